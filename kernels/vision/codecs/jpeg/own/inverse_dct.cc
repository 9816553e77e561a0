#include "kernels/vision/codecs/jpeg/own/inverse_dct.h"

#include <algorithm>
#include <array>
#include <cstring>

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

constexpr int64_t kSide = 8;
constexpr int64_t kValues = 64;

// Factors of the transform by Loeffler, Ligtenberg and Moschytz (1989), with 13 bits behind the point.
constexpr int kFactorBits = 13;
constexpr int kFirstPassBits = 2;
constexpr int kFirstShift = kFactorBits - kFirstPassBits;
constexpr int kSecondShift = kFactorBits + kFirstPassBits + 3;
constexpr int16_t k0_298 = 2446;
constexpr int16_t k0_390 = 3196;
constexpr int16_t k0_541 = 4433;
constexpr int16_t k0_765 = 6270;
constexpr int16_t k0_899 = 7373;
constexpr int16_t k1_175 = 9633;
constexpr int16_t k1_501 = 12299;
constexpr int16_t k1_847 = 15137;
constexpr int16_t k1_961 = 16069;
constexpr int16_t k2_053 = 16819;
constexpr int16_t k2_562 = 20995;
constexpr int16_t k3_072 = 25172;

// The factors of the sums that a pass needs.
constexpr Factors kEven2{k0_541, k0_541 - k1_847};
constexpr Factors kEven3{k0_541 + k0_765, k0_541};
constexpr Factors kOddZ3{k1_175 - k1_961, k1_175};
constexpr Factors kOddZ4{k1_175, k1_175 - k0_390};
constexpr Factors kOdd0{k0_298 - k0_899, -k0_899};
constexpr Factors kOdd3{-k0_899, k1_501 - k0_899};
constexpr Factors kOdd1{k2_053 - k2_562, -k2_562};
constexpr Factors kOdd2{-k2_562, k3_072 - k2_562};

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
void Transform(std::array<int16_t, kSide>& v) {
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
  std::array<std::array<int16_t, kSide>, kSide> columns;
  const bool means_only = std::all_of(coefficients + kSide, coefficients + kValues, [](int c) { return c == 0; });
  for (int64_t x = 0; x < kSide; ++x) {
    auto& column = columns[x];
    for (int64_t y = 0; y < kSide; ++y) column[y] = Wrapped(coefficients[y * kSide + x] * quantization[y * kSide + x]);
    if (means_only) {
      column.fill(Wrapped(column[0] * (1 << kFirstPassBits)));
    } else {
      Transform<kFirstShift>(column);
    }
  }
  for (int64_t y = 0; y < kSide; ++y) {
    std::array<int16_t, kSide> row;
    for (int64_t x = 0; x < kSide; ++x) row[x] = columns[x][y];
    Transform<kSecondShift>(row);
    for (int64_t x = 0; x < kSide; ++x) {
      samples[y * row_bytes + x] = static_cast<uint8_t>(std::clamp<int>(row[x], -128, 127) + 128);
    }
  }
}

#else

template <class D>
using Rows = std::array<hn::Vec<D>, kSide>;

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

// Moved up by the bits of the factors.
template <class D>
HWY_INLINE Wide<D> Widened(D d, hn::Vec<D> value) {
  const hn::Repartition<int32_t, D> wide;
  const auto zero = hn::Zero(d);
  return {hn::ShiftRight<16 - kFactorBits>(hn::BitCast(wide, hn::InterleaveLower(d, zero, value))),
          hn::ShiftRight<16 - kFactorBits>(hn::BitCast(wide, hn::InterleaveUpper(d, zero, value)))};
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
  const Wide<D> even0 = Widened(d, hn::Add(v[0], v[4]));
  const Wide<D> even1 = Widened(d, hn::Sub(v[0], v[4]));
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

// Row y of the blocks that a vector holds.
template <class D>
HWY_INLINE hn::Vec<D> LoadRow(D d, const int16_t* block, int64_t y) {
  if constexpr (hn::MaxLanes(d) == kSide) {
    return hn::LoadU(d, block + y * kSide);
  } else {
    const hn::Half<D> half;
    constexpr int64_t kBlocksOfHalf = hn::MaxLanes(half) / kSide;
    return hn::Combine(d, LoadRow(half, block + kBlocksOfHalf * kValues, y), LoadRow(half, block, y));
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
  for (int64_t y = 0; y < kSide; ++y) v[y] = LoadRow(d, coefficients, y);
  auto below = v[1];
  for (int64_t y = 2; y < kSide; ++y) below = hn::Or(below, v[y]);
  const bool one_row = hn::AllTrue(d, hn::Eq(below, hn::Zero(d)));
  v[0] = hn::Mul(v[0], hn::LoadDup128(d, quantization));
  if (one_row) {
    v[0] = hn::ShiftLeft<kFirstPassBits>(v[0]);
    for (int64_t y = 1; y < kSide; ++y) v[y] = v[0];
  } else {
    if constexpr (hn::MaxLanes(d) > kSide) {
      const auto wrapped = hn::ShiftRight<kFirstPassBits>(hn::ShiftLeft<kFirstPassBits>(v[0]));
      if (!hn::AllTrue(d, hn::Eq(wrapped, v[0]))) return false;
    }
    for (int64_t y = 1; y < kSide; ++y) v[y] = hn::Mul(v[y], hn::LoadDup128(d, quantization + y * kSide));
    Transform<kFirstShift>(d, v);
  }
  Transpose(d, v);
  Transform<kSecondShift>(d, v);
  Transpose(d, v);
  for (int64_t y = 0; y < kSide; ++y) StoreRow(d, v[y], samples + y * row_bytes);
  return true;
}

#endif

}  // namespace

void TransformBlocks(const int16_t* coefficients, int64_t blocks, const int16_t* quantization, uint8_t* samples,
                     ptrdiff_t row_bytes) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t b = 0; b < blocks; ++b) {
    OneBlock(coefficients + b * kValues, quantization, samples + b * kSide, row_bytes);
  }
#else
  const hn::CappedTag<int16_t, kSide * kMostBlocksAtOnce> d;
  constexpr int64_t kAtOnce = hn::MaxLanes(d) / kSide;
  const hn::FixedTag<int16_t, kSide> one;
  for (int64_t b = 0; b < blocks; b += kAtOnce) {
    const int16_t* const from = coefficients + b * kValues;
    if (Blocks(d, from, quantization, samples + b * kSide, row_bytes)) continue;
    for (int64_t i = 0; i < kAtOnce; ++i) {
      Blocks(one, from + i * kValues, quantization, samples + (b + i) * kSide, row_bytes);
    }
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::jpeg {

HWY_EXPORT(TransformBlocks);

void InverseDct(const int16_t* coefficients, int64_t blocks, const int16_t* quantization, uint8_t* samples,
                ptrdiff_t row_bytes) {
  HWY_DYNAMIC_DISPATCH(TransformBlocks)(coefficients, blocks, quantization, samples, row_bytes);
}

}  // namespace headrace::jpeg
#endif  // HWY_ONCE
