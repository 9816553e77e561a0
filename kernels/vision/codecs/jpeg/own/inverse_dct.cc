#include "kernels/vision/codecs/jpeg/own/inverse_dct.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/vision/codecs/jpeg/own/sequential_jpeg.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/codecs/jpeg/own/inverse_dct.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vision/codecs/jpeg/own/sum_of_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Factors of the transform by Loeffler, Ligtenberg and Moschytz (1989), with 13 bits after the point.
constexpr int kFactorBits = 13;
constexpr int kFirstPassBits = 2;
constexpr int kFirstShift = kFactorBits - kFirstPassBits;
constexpr int kSecondShift = kFactorBits + kFirstPassBits + 3;
constexpr int16_t k0_211 = 1730;
constexpr int16_t k0_298 = 2446;
constexpr int16_t k0_390 = 3196;
constexpr int16_t k0_509 = 4176;
constexpr int16_t k0_541 = 4433;
constexpr int16_t k0_601 = 4926;
constexpr int16_t k0_720 = 5906;
constexpr int16_t k0_765 = 6270;
constexpr int16_t k0_850 = 6967;
constexpr int16_t k0_899 = 7373;
constexpr int16_t k1_061 = 8697;
constexpr int16_t k1_175 = 9633;
constexpr int16_t k1_272 = 10426;
constexpr int16_t k1_451 = 11893;
constexpr int16_t k1_501 = 12299;
constexpr int16_t k1_847 = 15137;
constexpr int16_t k1_961 = 16069;
constexpr int16_t k2_053 = 16819;
constexpr int16_t k2_172 = 17799;
constexpr int16_t k2_562 = 20995;
constexpr int16_t k3_072 = 25172;
constexpr int16_t k3_624 = 29692;

// The factors of the sums that a pass needs.
constexpr Factors kEven2{k0_541, k0_541 - k1_847};
constexpr Factors kEven3{k0_541 + k0_765, k0_541};
constexpr Factors kOddZ3{k1_175 - k1_961, k1_175};
constexpr Factors kOddZ4{k1_175, k1_175 - k0_390};
constexpr Factors kOdd0{k0_298 - k0_899, -k0_899};
constexpr Factors kOdd3{-k0_899, k1_501 - k0_899};
constexpr Factors kOdd1{k2_053 - k2_562, -k2_562};
constexpr Factors kOdd2{-k2_562, k3_072 - k2_562};

// The same of a transform to half as many samples.
constexpr int64_t kHalfSide = kBlockSize / 2;
constexpr int kHalfFirstShift = kFirstShift + 1;
constexpr int kHalfSecondShift = kSecondShift + 1;
constexpr Factors kHalfEven{k1_847, -k0_765};
constexpr Factors kHalfOuter0{k2_562, k0_899};
constexpr Factors kHalfInner0{-k0_601, -k0_509};
constexpr Factors kHalfOuter1{k1_061, -k2_172};
constexpr Factors kHalfInner1{k1_451, -k0_211};

// And to a quarter.
constexpr int kQuarterBits = kFactorBits + 2;
constexpr int kQuarterFirstShift = kFirstShift + 2;
constexpr int kQuarterSecondShift = kSecondShift + 2;
constexpr Factors kQuarterOuter{k3_624, -k1_272};
constexpr Factors kQuarterInner{k0_850, -k0_720};

#if HWY_TARGET == HWY_SCALAR

int16_t Wrapped(int32_t value) { return static_cast<int16_t>(value); }
int16_t Saturated(int32_t value) { return static_cast<int16_t>(std::clamp<int32_t>(value, -32768, 32767)); }
uint32_t Sum(Factors factors, int16_t first, int16_t second) {
  return static_cast<uint32_t>(factors.first * first) + static_cast<uint32_t>(factors.second * second);
}
template <int kShift>
int16_t Descaled(uint32_t value) {
  return Saturated(static_cast<int32_t>(value + (1u << (kShift - 1))) >> kShift);
}

template <int kShift>
void Transform(std::array<int16_t, kBlockSize>& v) {
  const uint32_t even2 = Sum(kEven2, v[2], v[6]);
  const uint32_t even3 = Sum(kEven3, v[2], v[6]);
  const uint32_t even0 = static_cast<uint32_t>(Wrapped(v[0] + v[4])) << kFactorBits;
  const uint32_t even1 = static_cast<uint32_t>(Wrapped(v[0] - v[4])) << kFactorBits;
  const int16_t z3 = Wrapped(v[7] + v[3]);
  const int16_t z4 = Wrapped(v[5] + v[1]);
  const uint32_t sum3 = Sum(kOddZ3, z3, z4);
  const uint32_t sum4 = Sum(kOddZ4, z3, z4);
  const uint32_t odd0 = Sum(kOdd0, v[7], v[1]) + sum3;
  const uint32_t odd3 = Sum(kOdd3, v[7], v[1]) + sum4;
  const uint32_t odd1 = Sum(kOdd1, v[5], v[3]) + sum4;
  const uint32_t odd2 = Sum(kOdd2, v[5], v[3]) + sum3;
  v[0] = Descaled<kShift>(even0 + even3 + odd3);
  v[7] = Descaled<kShift>(even0 + even3 - odd3);
  v[1] = Descaled<kShift>(even1 + even2 + odd2);
  v[6] = Descaled<kShift>(even1 + even2 - odd2);
  v[2] = Descaled<kShift>(even1 - even2 + odd1);
  v[5] = Descaled<kShift>(even1 - even2 - odd1);
  v[3] = Descaled<kShift>(even0 - even3 + odd0);
  v[4] = Descaled<kShift>(even0 - even3 - odd0);
}

void OneBlock(const int16_t* coefficients, const int16_t* quantization, uint8_t* samples, ptrdiff_t row_bytes) {
  std::array<std::array<int16_t, kBlockSize>, kBlockSize> columns;
  const bool means_only =
      std::all_of(coefficients + kBlockSize, coefficients + kCoefficients, [](int c) { return c == 0; });
  for (int64_t x = 0; x < kBlockSize; ++x) {
    auto& column = columns[x];
    for (int64_t y = 0; y < kBlockSize; ++y)
      column[y] = Wrapped(coefficients[y * kBlockSize + x] * quantization[y * kBlockSize + x]);
    if (means_only) {
      column.fill(Wrapped(column[0] * (1 << kFirstPassBits)));
    } else {
      Transform<kFirstShift>(column);
    }
  }
  for (int64_t y = 0; y < kBlockSize; ++y) {
    std::array<int16_t, kBlockSize> row;
    for (int64_t x = 0; x < kBlockSize; ++x) row[x] = columns[x][y];
    Transform<kSecondShift>(row);
    for (int64_t x = 0; x < kBlockSize; ++x) {
      samples[y * row_bytes + x] = static_cast<uint8_t>(std::clamp<int>(row[x], -128, 127) + 128);
    }
  }
}

using HalfColumn = std::array<int16_t, kHalfSide>;

template <int kShift>
HalfColumn HalfTransform(const std::array<int16_t, kBlockSize>& v) {
  const uint32_t even = static_cast<uint32_t>(v[0]) << (kFactorBits + 1);
  const uint32_t even2 = Sum(kHalfEven, v[2], v[6]);
  const uint32_t odd0 = Sum(kHalfOuter0, v[1], v[3]) + Sum(kHalfInner0, v[5], v[7]);
  const uint32_t odd1 = Sum(kHalfOuter1, v[1], v[3]) + Sum(kHalfInner1, v[5], v[7]);
  return {Descaled<kShift>(even + even2 + odd0), Descaled<kShift>(even - even2 + odd1),
          Descaled<kShift>(even - even2 - odd1), Descaled<kShift>(even + even2 - odd0)};
}

void OneHalfBlock(const int16_t* coefficients, const int16_t* quantization, uint8_t* samples, ptrdiff_t row_bytes) {
  bool means_only = true;
  for (const int64_t y : {1, 2, 3, 5, 6, 7}) {
    const int16_t* const row = coefficients + y * kBlockSize;
    means_only &= std::all_of(row, row + kBlockSize, [](int c) { return c == 0; });
  }
  std::array<HalfColumn, kBlockSize> columns;
  for (int64_t x = 0; x < kBlockSize; ++x) {
    std::array<int16_t, kBlockSize> column;
    for (int64_t y = 0; y < kBlockSize; ++y) {
      column[y] = Wrapped(coefficients[y * kBlockSize + x] * quantization[y * kBlockSize + x]);
    }
    if (means_only) {
      columns[x].fill(Wrapped(column[0] * (1 << kFirstPassBits)));
    } else {
      columns[x] = HalfTransform<kHalfFirstShift>(column);
    }
  }
  for (int64_t y = 0; y < kHalfSide; ++y) {
    std::array<int16_t, kBlockSize> row;
    for (int64_t x = 0; x < kBlockSize; ++x) row[x] = columns[x][y];
    const HalfColumn values = HalfTransform<kHalfSecondShift>(row);
    for (int64_t x = 0; x < kHalfSide; ++x) {
      samples[y * row_bytes + x] = static_cast<uint8_t>(std::clamp<int>(values[x], -128, 127) + 128);
    }
  }
}

template <class D>
void QuarterColumns(D /*d*/, const int16_t* coefficients, const int16_t* quantization, int32_t* results) {
  for (int64_t x = 0; x < kBlockSize; ++x) {
    const auto at = [&](int64_t y) {
      return Wrapped(coefficients[y * kBlockSize + x] * quantization[y * kBlockSize + x]);
    };
    const uint32_t even = (static_cast<uint32_t>(at(0)) << kQuarterBits) + (1u << (kQuarterFirstShift - 1));
    const uint32_t odd = Sum(kQuarterOuter, at(1), at(3)) + Sum(kQuarterInner, at(5), at(7));
    results[x] = static_cast<int32_t>(even + odd) >> kQuarterFirstShift;
    results[kBlockSize + x] = static_cast<int32_t>(even - odd) >> kQuarterFirstShift;
  }
}

#else

template <class D>
using Rows = std::array<hn::Vec<D>, kBlockSize>;

// Numbers of 32 bits, those of the lower and of the upper half of each block of 128.
template <class D>
struct Wide {
  using V = hn::Vec<hn::Repartition<int32_t, D> >;
  V lower;
  V upper;
};

template <class D>
HWY_INLINE Wide<D> Plus(Wide<D> a, Wide<D> b) {
  return {hn::Add(a.lower, b.lower), hn::Add(a.upper, b.upper)};
}
template <class D>
HWY_INLINE Wide<D> Minus(Wide<D> a, Wide<D> b) {
  return {hn::Sub(a.lower, b.lower), hn::Sub(a.upper, b.upper)};
}

// Two vectors whose products with pairs of factors are summed.
template <class D>
struct Pairs {
  hn::Vec<D> lower;
  hn::Vec<D> upper;
};
template <class D>
HWY_INLINE Pairs<D> PairsOf(D d, hn::Vec<D> first, hn::Vec<D> second) {
  return {hn::InterleaveLower(d, first, second), hn::InterleaveUpper(d, first, second)};
}
template <class D>
HWY_INLINE Wide<D> Sum(D d, const Pairs<D>& pairs, Factors factors) {
  return {SumOfProducts(d, pairs.lower, factors), SumOfProducts(d, pairs.upper, factors)};
}

// Moved up by so many bits.
template <int kBits, class D>
HWY_INLINE Wide<D> Widened(D d, hn::Vec<D> value) {
  const hn::Repartition<int32_t, D> wide;
  const auto zero = hn::Zero(d);
  return {hn::ShiftRight<16 - kBits>(hn::BitCast(wide, hn::InterleaveLower(d, zero, value))),
          hn::ShiftRight<16 - kBits>(hn::BitCast(wide, hn::InterleaveUpper(d, zero, value)))};
}

template <int kShift, class D>
HWY_INLINE hn::Vec<D> Descaled(D d, Wide<D> value) {
  const hn::Repartition<int32_t, D> wide;
  const auto half = hn::Set(wide, 1 << (kShift - 1));
  return hn::ReorderDemote2To(d, hn::ShiftRight<kShift>(hn::Add(value.lower, half)),
                              hn::ShiftRight<kShift>(hn::Add(value.upper, half)));
}

template <int kShift, class D>
HWY_INLINE void Transform(D d, Rows<D>& v) {
  const Pairs<D> even = PairsOf(d, v[2], v[6]);
  const Wide<D> even2 = Sum(d, even, kEven2);
  const Wide<D> even3 = Sum(d, even, kEven3);
  const Wide<D> even0 = Widened<kFactorBits>(d, hn::Add(v[0], v[4]));
  const Wide<D> even1 = Widened<kFactorBits>(d, hn::Sub(v[0], v[4]));
  const Wide<D> tmp10 = Plus<D>(even0, even3);
  const Wide<D> tmp13 = Minus<D>(even0, even3);
  const Wide<D> tmp11 = Plus<D>(even1, even2);
  const Wide<D> tmp12 = Minus<D>(even1, even2);
  const Pairs<D> sums = PairsOf(d, hn::Add(v[7], v[3]), hn::Add(v[5], v[1]));
  const Wide<D> sum3 = Sum(d, sums, kOddZ3);
  const Wide<D> sum4 = Sum(d, sums, kOddZ4);
  const Pairs<D> outer = PairsOf(d, v[7], v[1]);
  const Pairs<D> inner = PairsOf(d, v[5], v[3]);
  const Wide<D> odd3 = Plus<D>(Sum(d, outer, kOdd3), sum4);
  v[0] = Descaled<kShift>(d, Plus<D>(tmp10, odd3));
  v[7] = Descaled<kShift>(d, Minus<D>(tmp10, odd3));
  const Wide<D> odd2 = Plus<D>(Sum(d, inner, kOdd2), sum3);
  v[1] = Descaled<kShift>(d, Plus<D>(tmp11, odd2));
  v[6] = Descaled<kShift>(d, Minus<D>(tmp11, odd2));
  const Wide<D> odd1 = Plus<D>(Sum(d, inner, kOdd1), sum4);
  v[2] = Descaled<kShift>(d, Plus<D>(tmp12, odd1));
  v[5] = Descaled<kShift>(d, Minus<D>(tmp12, odd1));
  const Wide<D> odd0 = Plus<D>(Sum(d, outer, kOdd0), sum3);
  v[3] = Descaled<kShift>(d, Plus<D>(tmp13, odd0));
  v[4] = Descaled<kShift>(d, Minus<D>(tmp13, odd0));
}

// Transposes the 8 × 8 numbers of each block of 128 bits.
template <class D>
HWY_INLINE void Transpose(D d, Rows<D>& v) {
  for (int step = 0; step < 3; ++step) {
    Rows<D> next;
    for (int i = 0; i < 4; ++i) {
      next[2 * i] = hn::InterleaveLower(d, v[i], v[i + 4]);
      next[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + 4]);
    }
    v = next;
  }
}

// Row y of the blocks that a vector holds: every block from the first on, or every second one.
template <int64_t kStep = 1, class D>
HWY_INLINE hn::Vec<D> LoadRow(D d, const int16_t* block, int64_t y) {
  if constexpr (hn::MaxLanes(d) == kBlockSize) {
    return hn::LoadU(d, block + y * kBlockSize);
  } else {
    const hn::Half<D> half;
    constexpr int64_t kOfHalf = hn::MaxLanes(half) / kBlockSize * kStep * kCoefficients;
    return hn::Combine(d, LoadRow<kStep>(half, block + kOfHalf, y), LoadRow<kStep>(half, block, y));
  }
}

template <class D>
HWY_INLINE void StoreRow(D d, hn::Vec<D> row, uint8_t* samples) {
  const hn::Rebind<uint8_t, D> bytes;
  hn::StoreU(hn::DemoteTo(bytes, hn::SaturatedAdd(row, hn::Set(d, 128))), bytes, samples);
}

// The blocks that a vector of D holds. False, with nothing written: they must be transformed one by one, because the
// shortcut for blocks with one row of coefficients wraps where the others saturate.
template <class D>
HWY_INLINE bool Blocks(D d, const int16_t* coefficients, const int16_t* quantization, uint8_t* samples,
                       ptrdiff_t row_bytes) {
  Rows<D> v;
  for (int64_t y = 0; y < kBlockSize; ++y) v[y] = LoadRow(d, coefficients, y);
  auto below = v[1];
  for (int64_t y = 2; y < kBlockSize; ++y) below = hn::Or(below, v[y]);
  const bool one_row = hn::AllTrue(d, hn::Eq(below, hn::Zero(d)));
  v[0] = hn::Mul(v[0], hn::LoadDup128(d, quantization));
  if (one_row) {
    v[0] = hn::ShiftLeft<kFirstPassBits>(v[0]);
    for (int64_t y = 1; y < kBlockSize; ++y) v[y] = v[0];
  } else {
    if constexpr (hn::MaxLanes(d) > kBlockSize) {
      const auto wrapped = hn::ShiftRight<kFirstPassBits>(hn::ShiftLeft<kFirstPassBits>(v[0]));
      if (!hn::AllTrue(d, hn::Eq(wrapped, v[0]))) return false;
    }
    for (int64_t y = 1; y < kBlockSize; ++y) v[y] = hn::Mul(v[y], hn::LoadDup128(d, quantization + y * kBlockSize));
    Transform<kFirstShift>(d, v);
  }
  Transpose(d, v);
  Transform<kSecondShift>(d, v);
  Transpose(d, v);
  for (int64_t y = 0; y < kBlockSize; ++y) StoreRow(d, v[y], samples + y * row_bytes);
  return true;
}

// Writes the first half of `v`, of all of it except v[4].
template <int kShift, class D>
HWY_INLINE void HalfTransform(D d, Rows<D>& v) {
  const Wide<D> even = Widened<kFactorBits + 1>(d, v[0]);
  const Wide<D> even2 = Sum(d, PairsOf(d, v[2], v[6]), kHalfEven);
  const Wide<D> sum = Plus<D>(even, even2);
  const Wide<D> difference = Minus<D>(even, even2);
  const Pairs<D> outer = PairsOf(d, v[1], v[3]);
  const Pairs<D> inner = PairsOf(d, v[5], v[7]);
  const Wide<D> odd0 = Plus<D>(Sum(d, outer, kHalfOuter0), Sum(d, inner, kHalfInner0));
  const Wide<D> odd1 = Plus<D>(Sum(d, outer, kHalfOuter1), Sum(d, inner, kHalfInner1));
  v[0] = Descaled<kShift>(d, Plus<D>(sum, odd0));
  v[1] = Descaled<kShift>(d, Plus<D>(difference, odd1));
  v[2] = Descaled<kShift>(d, Minus<D>(difference, odd1));
  v[3] = Descaled<kShift>(d, Minus<D>(sum, odd0));
}

// The columns of every second block, in the first half of `v`. False: as that of Blocks.
template <class D>
HWY_INLINE bool HalfColumns(D d, const int16_t* coefficients, const int16_t* quantization, Rows<D>& v) {
  for (int64_t y = 0; y < kBlockSize; ++y) v[y] = LoadRow<2>(d, coefficients, y);
  const auto below = hn::Or(hn::Or(hn::Or(v[1], v[2]), hn::Or(v[3], v[5])), hn::Or(v[6], v[7]));
  v[0] = hn::Mul(v[0], hn::LoadDup128(d, quantization));
  if (hn::AllTrue(d, hn::Eq(below, hn::Zero(d)))) {
    v[0] = hn::ShiftLeft<kFirstPassBits>(v[0]);
    for (int64_t y = 1; y < kHalfSide; ++y) v[y] = v[0];
    return true;
  }
  if constexpr (hn::MaxLanes(d) > kBlockSize) {
    const auto wrapped = hn::ShiftRight<kFirstPassBits>(hn::ShiftLeft<kFirstPassBits>(v[0]));
    if (!hn::AllTrue(d, hn::Eq(wrapped, v[0]))) return false;
  }
  for (int64_t y = 1; y < kBlockSize; ++y) v[y] = hn::Mul(v[y], hn::LoadDup128(d, quantization + y * kBlockSize));
  HalfTransform<kHalfFirstShift>(d, v);
  return true;
}

// Twice as many blocks as a vector of D holds, of which neighbours share vectors. False: as that of Blocks.
template <class D>
HWY_INLINE bool HalfBlocks(D d, const int16_t* coefficients, const int16_t* quantization, uint8_t* samples,
                           ptrdiff_t row_bytes) {
  Rows<D> v;
  Rows<D> second;
  if (!HalfColumns(d, coefficients, quantization, v)) return false;
  if (!HalfColumns(d, coefficients + kCoefficients, quantization, second)) return false;
  std::copy_n(second.begin(), kHalfSide, v.begin() + kHalfSide);
  Transpose(d, v);
  HalfTransform<kHalfSecondShift>(d, v);
  std::fill_n(v.begin() + kHalfSide, kHalfSide, hn::Zero(d));
  Transpose(d, v);
  const hn::Repartition<uint64_t, D> halves;
  for (int64_t y = 0; y < kHalfSide; ++y) {
    const auto row = hn::InterleaveLower(halves, hn::BitCast(halves, v[y]), hn::BitCast(halves, v[y + kHalfSide]));
    StoreRow(d, hn::BitCast(d, row), samples + y * row_bytes);
  }
  return true;
}

// The first pass of a transform to 2 × 2 samples: the two results of each of 8 columns.
template <class D>
HWY_INLINE void QuarterColumns(D d, const int16_t* coefficients, const int16_t* quantization, int32_t* results) {
  const hn::Repartition<int32_t, D> wide;
  const auto row = [&](int64_t y) {
    return hn::Mul(hn::LoadU(d, coefficients + y * kBlockSize), hn::LoadU(d, quantization + y * kBlockSize));
  };
  const Wide<D> half{hn::Set(wide, 1 << (kQuarterFirstShift - 1)), hn::Set(wide, 1 << (kQuarterFirstShift - 1))};
  const auto even = Plus<D>(Widened<kQuarterBits>(d, row(0)), half);
  const auto odd =
      Plus<D>(Sum(d, PairsOf(d, row(1), row(3)), kQuarterOuter), Sum(d, PairsOf(d, row(5), row(7)), kQuarterInner));
  const auto sum = Plus<D>(even, odd);
  const auto difference = Minus<D>(even, odd);
  hn::StoreU(hn::ShiftRight<kQuarterFirstShift>(sum.lower), wide, results);
  hn::StoreU(hn::ShiftRight<kQuarterFirstShift>(sum.upper), wide, results + kBlockSize / 2);
  hn::StoreU(hn::ShiftRight<kQuarterFirstShift>(difference.lower), wide, results + kBlockSize);
  hn::StoreU(hn::ShiftRight<kQuarterFirstShift>(difference.upper), wide, results + kBlockSize + kBlockSize / 2);
}

#endif

}  // namespace

void TransformBlocks(const int16_t* coefficients, int64_t blocks, const int16_t* quantization, uint8_t* samples,
                     ptrdiff_t row_bytes) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t b = 0; b < blocks; ++b) {
    OneBlock(coefficients + b * kCoefficients, quantization, samples + b * kBlockSize, row_bytes);
  }
#else
  const hn::CappedTag<int16_t, kBlockSize * kMostBlocksAtOnce> d;
  constexpr int64_t kAtOnce = hn::MaxLanes(d) / kBlockSize;
  const hn::FixedTag<int16_t, kBlockSize> one;
  for (int64_t b = 0; b < blocks; b += kAtOnce) {
    const int16_t* const from = coefficients + b * kCoefficients;
    if (Blocks(d, from, quantization, samples + b * kBlockSize, row_bytes)) continue;
    for (int64_t i = 0; i < kAtOnce; ++i) {
      Blocks(one, from + i * kCoefficients, quantization, samples + (b + i) * kBlockSize, row_bytes);
    }
  }
#endif
}

void HalfTransformBlocks(const int16_t* coefficients, int64_t blocks, const int16_t* quantization, uint8_t* samples,
                         ptrdiff_t row_bytes) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t b = 0; b < blocks; ++b) {
    OneHalfBlock(coefficients + b * kCoefficients, quantization, samples + b * kHalfSide, row_bytes);
  }
#else
  // Pairs of blocks, so half as many of them.
  const hn::CappedTag<int16_t, kBlockSize * kMostBlocksAtOnce / 2> d;
  constexpr int64_t kAtOnce = 2 * hn::MaxLanes(d) / kBlockSize;
  const hn::FixedTag<int16_t, kBlockSize> one;
  for (int64_t b = 0; b < blocks; b += kAtOnce) {
    const int16_t* const from = coefficients + b * kCoefficients;
    if (HalfBlocks(d, from, quantization, samples + b * kHalfSide, row_bytes)) continue;
    for (int64_t i = 0; i < kAtOnce; i += 2) {
      HalfBlocks(one, from + i * kCoefficients, quantization, samples + (b + i) * kHalfSide, row_bytes);
    }
  }
#endif
}

// 32 bits wrap.
void QuarterTransformBlocks(const int16_t* coefficients, int64_t blocks, const int16_t* quantization, uint8_t* samples,
                            ptrdiff_t row_bytes) {
  const hn::CappedTag<int16_t, kBlockSize> d;
  for (int64_t b = 0; b < blocks; ++b, samples += 2) {
    std::array<int32_t, 2 * kBlockSize> columns;
    QuarterColumns(d, coefficients + b * kCoefficients, quantization, columns.data());
    for (int64_t y = 0; y < 2; ++y) {
      const int32_t* const row = columns.data() + y * kBlockSize;
      // The first alone keeps 32 bits.
      const auto odd = [row](int64_t x) { return std::clamp<int32_t>(row[x], -32768, 32767); };
      const uint32_t even = (static_cast<uint32_t>(row[0]) << kQuarterBits) + (1u << (kQuarterSecondShift - 1));
      const uint32_t sum = static_cast<uint32_t>(odd(1) * k3_624 - odd(3) * k1_272) +
                           static_cast<uint32_t>(odd(5) * k0_850 - odd(7) * k0_720);
      const auto sample = [](uint32_t value) {
        return static_cast<uint8_t>(std::clamp<int32_t>(static_cast<int32_t>(value) >> kQuarterSecondShift, -128, 127) +
                                    128);
      };
      samples[y * row_bytes] = sample(even + sum);
      samples[y * row_bytes + 1] = sample(even - sum);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::jpeg {
namespace {

// The mean as a sample. Numbers far outside of its range wrap to 10 bits first.
uint8_t MeanSample(int32_t product) {
  constexpr int32_t kWrap = 1024;
  const int32_t wrapped = ((product + 4) >> 3) & (kWrap - 1);
  return static_cast<uint8_t>(std::clamp(wrapped < kWrap / 2 ? wrapped : wrapped - kWrap, -128, 127) + 128);
}

}  // namespace

HWY_EXPORT(TransformBlocks);
HWY_EXPORT(HalfTransformBlocks);
HWY_EXPORT(QuarterTransformBlocks);

void InverseDct(const int16_t* coefficients, int64_t blocks, const int16_t* quantization, uint8_t* samples,
                ptrdiff_t row_bytes) {
  HWY_DYNAMIC_DISPATCH(TransformBlocks)(coefficients, blocks, quantization, samples, row_bytes);
}

void ReducedInverseDct(const int16_t* coefficients, int64_t blocks, const int16_t* quantization, int side,
                       uint8_t* samples, ptrdiff_t row_bytes) {
  if (side == kBlockSize / 2) {
    HWY_DYNAMIC_DISPATCH(HalfTransformBlocks)(coefficients, blocks, quantization, samples, row_bytes);
    return;
  }
  if (side == kBlockSize / 4) {
    HWY_DYNAMIC_DISPATCH(QuarterTransformBlocks)(coefficients, blocks, quantization, samples, row_bytes);
    return;
  }
  for (int64_t b = 0; b < blocks; ++b) samples[b] = MeanSample(coefficients[b * kCoefficients] * quantization[0]);
}

}  // namespace headrace::jpeg
#endif  // HWY_ONCE
