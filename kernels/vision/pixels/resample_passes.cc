#include "kernels/vision/pixels/resample_passes.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/resample_passes.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef HEADRACE_KERNELS_VISION_RESAMPLE_PASSES_CC_
#define HEADRACE_KERNELS_VISION_RESAMPLE_PASSES_CC_

namespace headrace {
namespace {

constexpr int kPrecisionBits = 32 - 8 - 2;
constexpr int32_t kHalf = 1 << (kPrecisionBits - 1);

// Vectors multiply 16-bit numbers, so a weight is taken as high · 2^11 + low: the sum of both parts is exact.
constexpr int kLowBits = 11;

// The input of a pass, as plain pointers.
template <typename Weight>
struct TapsView {
  const int* first;
  const int* count;
  const Weight* weights;
  int taps;
};

// The weights of two neighbours at a time, in the form in which a vector multiplies them: for each position `pairs`
// high parts and low parts. Every position has the same number, padded with zeros, so that no branch depends on the
// position.
struct PairedWeights {
  const uint32_t* words;
  int64_t pairs;
};

}  // namespace
}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_RESAMPLE_PASSES_CC_

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kBlock = 32;                  // elements of a row summed at once
constexpr int64_t kMostInterleaved = 2048;  // pixels per row of one channel that are filtered together with others

// How values of a type are summed, and stored.
template <typename T>
struct Sum;

template <>
struct Sum<uint8_t> {
  using type = int32_t;
  using weight = int32_t;
  static constexpr int32_t kStart = kHalf;
  static HWY_INLINE uint8_t Store(int32_t sum) {
    sum >>= kPrecisionBits;
    return static_cast<uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
  }
};

template <>
struct Sum<float> {
  using type = double;
  using weight = double;
  static constexpr double kStart = 0.0;
  static HWY_INLINE float Store(double sum) { return static_cast<float>(sum); }
};

template <>
struct Sum<uint16_t> {
  using type = double;
  using weight = double;
  static constexpr double kStart = 0.0;
  static HWY_INLINE uint16_t Store(double sum) {
    sum += 0.5;
    return static_cast<uint16_t>(sum < 0.0 ? 0.0 : sum > 65535.0 ? 65535.0 : sum);
  }
};

// One row; `kChannels` 0: any number, given by `channels`.
template <typename T, int kChannels>
HWY_INLINE void AlongRow(const T* source, const TapsView<typename Sum<T>::weight>& taps, int64_t begin, int64_t end,
                         int64_t channels, T* target) {
  using S = typename Sum<T>::type;
  if (kChannels > 0) channels = kChannels;
  for (int64_t x = begin; x < end; ++x) {
    const T* pixel = source + taps.first[x] * channels;
    const auto* weight = taps.weights + x * taps.taps;
    if constexpr (kChannels > 0) {
      S sums[kChannels];
      for (int c = 0; c < kChannels; ++c) sums[c] = Sum<T>::kStart;
      for (int i = 0; i < taps.count[x]; ++i) {
        for (int c = 0; c < kChannels; ++c) sums[c] += static_cast<S>(pixel[i * kChannels + c]) * weight[i];
      }
      for (int c = 0; c < kChannels; ++c) target[x * kChannels + c] = Sum<T>::Store(sums[c]);
      continue;
    }
    for (int64_t c = 0; c < channels; ++c) {
      S sum = Sum<T>::kStart;
      for (int i = 0; i < taps.count[x]; ++i) sum += static_cast<S>(pixel[i * channels + c]) * weight[i];
      target[x * channels + c] = Sum<T>::Store(sum);
    }
  }
}

template <typename T, int kChannels>
HWY_INLINE void AlongEachRow(const PixelRun& source, int64_t begin_row, int64_t rows,
                             const TapsView<typename Sum<T>::weight>& taps, int64_t begin, int64_t end, T* target,
                             int64_t target_width) {
  for (int64_t y = begin_row; y < rows; ++y) {
    AlongRow<T, kChannels>(reinterpret_cast<const T*>(source.pixels + y * source.stride), taps, begin, end,
                           source.channels, target + y * target_width * source.channels);
  }
}

template <typename T>
HWY_INLINE void AlongRows(const PixelRun& source, int64_t begin_row, int64_t rows,
                          const TapsView<typename Sum<T>::weight>& taps, int64_t begin, int64_t end, T* target,
                          int64_t target_width) {
  if (source.channels == 1) {
    AlongEachRow<T, 1>(source, begin_row, rows, taps, begin, end, target, target_width);
  } else if (source.channels == 3) {
    AlongEachRow<T, 3>(source, begin_row, rows, taps, begin, end, target, target_width);
  } else if (source.channels == 4) {
    AlongEachRow<T, 4>(source, begin_row, rows, taps, begin, end, target, target_width);
  } else {
    AlongEachRow<T, 0>(source, begin_row, rows, taps, begin, end, target, target_width);
  }
}

// The targets with intrinsics: clang compiles the emulated one where gcc compiles the scalar one.
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

// Vectors of one or two blocks of 16 bytes. Wider ones are slower along rows: one more block is one more load and move.
using Bytes = hn::CappedTag<uint8_t, 32>;
using Words = hn::Repartition<int16_t, Bytes>;
using Sums = hn::Repartition<int32_t, Bytes>;

// In the pass along rows each block belongs to another row.
constexpr int kRows = HWY_MAX_BYTES == 16 ? 1 : 2;

// 16 bytes of each row, from `offset` on.
HWY_INLINE hn::Vec<Bytes> LoadRows(const uint8_t* const* rows, int64_t offset) {
  const hn::FixedTag<uint8_t, 16> block;
#if HWY_MAX_BYTES == 16
  return hn::LoadU(block, rows[0] + offset);
#else
  return hn::Combine(Bytes(), hn::LoadU(block, rows[1] + offset), hn::LoadU(block, rows[0] + offset));
#endif
}

// How bytes of a load become those of two pairs of neighbouring pixels as 16-bit numbers, channel by channel.
struct PairOrders {
  hn::Vec<Bytes> first;
  hn::Vec<Bytes> second;
};

// Index 255 gives the zero of a number's higher half.
template <int kChannels>
HWY_INLINE PairOrders OrdersOfPairs() {
  constexpr uint8_t kNo = 255;
  alignas(16) static constexpr uint8_t kThree[2][16] = {
      {0, kNo, 3, kNo, 1, kNo, 4, kNo, 2, kNo, 5, kNo, kNo, kNo, kNo, kNo},
      {6, kNo, 9, kNo, 7, kNo, 10, kNo, 8, kNo, 11, kNo, kNo, kNo, kNo, kNo}};
  alignas(16) static constexpr uint8_t kFour[2][16] = {
      {0, kNo, 4, kNo, 1, kNo, 5, kNo, 2, kNo, 6, kNo, 3, kNo, 7, kNo},
      {8, kNo, 12, kNo, 9, kNo, 13, kNo, 10, kNo, 14, kNo, 11, kNo, 15, kNo}};
  const Bytes bytes;
  const auto& orders = kChannels == 3 ? kThree : kFour;
  return {hn::LoadDup128(bytes, orders[0]), hn::LoadDup128(bytes, orders[1])};
}

// Sums at one position of twice kRows rows: a block holds those of a row's channels.
struct TwoSums {
  hn::Vec<Sums> one;
  hn::Vec<Sums> other;
};

// High and low sums.
struct PairSums {
  TwoSums high;
  TwoSums low;
};

HWY_INLINE void AddPair(hn::Vec<Bytes> one_loaded, hn::Vec<Bytes> other_loaded, hn::Vec<Bytes> order,
                        const uint32_t* weights, PairSums& to) {
  const Sums sums;
  const Words words;
  auto unused = hn::Zero(sums);
  const auto of_high = hn::BitCast(words, hn::Set(sums, static_cast<int32_t>(weights[0])));
  const auto of_low = hn::BitCast(words, hn::Set(sums, static_cast<int32_t>(weights[1])));
  const auto one = hn::BitCast(words, hn::TableLookupBytesOr0(one_loaded, order));
  const auto other = hn::BitCast(words, hn::TableLookupBytesOr0(other_loaded, order));
  to.high.one = hn::ReorderWidenMulAccumulate(sums, one, of_high, to.high.one, unused);
  to.low.one = hn::ReorderWidenMulAccumulate(sums, one, of_low, to.low.one, unused);
  to.high.other = hn::ReorderWidenMulAccumulate(sums, other, of_high, to.high.other, unused);
  to.low.other = hn::ReorderWidenMulAccumulate(sums, other, of_low, to.low.other, unused);
}

// `kPairs` 0: any number, given by `pairs`. A load holds two pairs.
template <int kChannels, int kPairs>
HWY_INLINE TwoSums SumOfPairs(const uint8_t* const* rows, int64_t offset, const uint32_t* weights, int64_t pairs,
                              const PairOrders& orders) {
  const Sums sums;
  const auto zero = hn::Zero(sums);
  const auto start = hn::Set(sums, kHalf);
  PairSums found = {{zero, zero}, {start, start}};
  if (kPairs > 0) pairs = kPairs;
  for (int64_t pair = 0; pair < pairs; pair += 2, offset += 4 * kChannels, weights += 4) {
    const auto one = LoadRows(rows, offset);
    const auto other = LoadRows(rows + kRows, offset);
    AddPair(one, other, orders.first, weights, found);
    if (pair + 1 < pairs) AddPair(one, other, orders.second, weights + 2, found);
  }
  const TwoSums& high = found.high;
  const TwoSums& low = found.low;
  return {hn::ShiftRight<kPrecisionBits>(hn::Add(hn::ShiftLeft<kLowBits>(high.one), low.one)),
          hn::ShiftRight<kPrecisionBits>(hn::Add(hn::ShiftLeft<kLowBits>(high.other), low.other))};
}

// The rows and weights of a pass along twice kRows rows.
struct RowsAndWeights {
  const uint8_t* const* rows;
  const int* first;
  const PairedWeights& weights;
  uint8_t* const* targets;
};

template <int kChannels, int kPairs>
HWY_INLINE TwoSums SumsAt(const RowsAndWeights& given, int64_t x, const PairOrders& orders) {
  return SumOfPairs<kChannels, kPairs>(given.rows, static_cast<int64_t>(given.first[x]) * kChannels,
                                       given.weights.words + x * given.weights.pairs * 2, given.weights.pairs, orders);
}

// One position.
template <int kChannels, int kPairs>
HWY_INLINE void OnePosition(const RowsAndWeights& given, int64_t x, const PairOrders& orders) {
  const Words words;
  const hn::Rebind<uint8_t, Words> packed_bytes;
  const TwoSums sums = SumsAt<kChannels, kPairs>(given, x, orders);
  // Saturates to 0 … 255 within each block: a pixel of one row, then a pixel of the other.
  alignas(64) uint8_t pixels[8 * kRows];
  hn::Store(hn::DemoteTo(packed_bytes, hn::ReorderDemote2To(words, sums.one, sums.other)), packed_bytes, pixels);
  for (int i = 0; i < kRows; ++i) {
    std::memcpy(given.targets[i] + x * kChannels, pixels + 8 * i, kChannels);
    std::memcpy(given.targets[kRows + i] + x * kChannels, pixels + 8 * i + 4, kChannels);
  }
}

// Saturates to 0 … 255: in each block the eight numbers of `lower`, then those of `upper`.
HWY_INLINE hn::Vec128<uint8_t> Saturated(hn::Vec128<int16_t> lower, hn::Vec128<int16_t> upper) {
  return hn::Vec128<uint8_t>{_mm_packus_epi16(lower.raw, upper.raw)};
}
#if HWY_MAX_BYTES >= 32
HWY_INLINE hn::Vec256<uint8_t> Saturated(hn::Vec256<int16_t> lower, hn::Vec256<int16_t> upper) {
  return hn::Vec256<uint8_t>{_mm256_packus_epi16(lower.raw, upper.raw)};
}
#endif
#if HWY_MAX_BYTES >= 64
HWY_INLINE hn::Vec512<uint8_t> Saturated(hn::Vec512<int16_t> lower, hn::Vec512<int16_t> upper) {
  return hn::Vec512<uint8_t>{_mm512_packus_epi16(lower.raw, upper.raw)};
}
#endif

// Stores the eight bytes of each half of the block.
HWY_INLINE void StoreHalves(hn::Vec<hn::FixedTag<uint8_t, 16>> block, uint8_t* lower, uint8_t* upper) {
  const hn::FixedTag<uint64_t, 2> words;
  const uint64_t halves[] = {hn::GetLane(hn::BitCast(words, block)), hn::ExtractLane(hn::BitCast(words, block), 1)};
  std::memcpy(lower, &halves[0], 8);
  std::memcpy(upper, &halves[1], 8);
}

// Two neighbouring positions, eight bytes for each row: of three channels two bytes too many.
template <int kChannels, int kPairs>
HWY_INLINE void TwoPositions(const RowsAndWeights& given, int64_t x, const PairOrders& orders) {
  const Words words;
  const TwoSums sums = SumsAt<kChannels, kPairs>(given, x, orders);
  const TwoSums next = SumsAt<kChannels, kPairs>(given, x + 1, orders);
  auto pixels =
      Saturated(hn::ReorderDemote2To(words, sums.one, next.one), hn::ReorderDemote2To(words, sums.other, next.other));
  if constexpr (kChannels == 3) {
    alignas(16) static constexpr uint8_t kClosed[16] = {0, 1, 2, 4, 5, 6, 7, 7, 8, 9, 10, 12, 13, 14, 15, 15};
    pixels = hn::TableLookupBytes(pixels, hn::LoadDup128(Bytes(), kClosed));
  }
  uint8_t* const* const targets = given.targets;
#if HWY_MAX_BYTES == 16
  StoreHalves(pixels, targets[0] + x * kChannels, targets[1] + x * kChannels);
#else
  StoreHalves(hn::LowerHalf(pixels), targets[0] + x * kChannels, targets[2] + x * kChannels);
  StoreHalves(hn::UpperHalf(hn::FixedTag<uint8_t, 16>(), pixels), targets[1] + x * kChannels,
              targets[3] + x * kChannels);
#endif
}

template <int kChannels, int kPairs>
HWY_INLINE void AlongSomeRows(const RowsAndWeights& given, int64_t end) {
  const PairOrders orders = OrdersOfPairs<kChannels>();
  int64_t x = 0;
  // What is stored too much, the next pixel overwrites.
  for (; x + 2 < end; x += 2) TwoPositions<kChannels, kPairs>(given, x, orders);
  for (; x < end; ++x) OnePosition<kChannels, kPairs>(given, x, orders);
}

// Twice kRows rows, up to before position `end`; no position reads 16 bytes beyond its row.
template <int kChannels>
HWY_INLINE void AlongSomeRows(const RowsAndWeights& given, int64_t end) {
  switch (given.weights.pairs) {
    case 1:
      return AlongSomeRows<kChannels, 1>(given, end);
    case 2:
      return AlongSomeRows<kChannels, 2>(given, end);
    case 3:
      return AlongSomeRows<kChannels, 3>(given, end);
    default:
      return AlongSomeRows<kChannels, 0>(given, end);
  }
}

// The bytes from the first of a position up to after its last load.
HWY_INLINE int64_t BytesRead(int64_t pairs, int64_t channels) { return (pairs - 1) / 2 * 4 * channels + 16; }

// Positions before the first whose last load exceeds the row.
HWY_INLINE int64_t SafePositions(const TapsView<int32_t>& taps, int64_t positions, int64_t pairs, int64_t row_bytes,
                                 int64_t channels) {
  const int64_t read = BytesRead(pairs, channels);
  while (positions > 0 && taps.first[positions - 1] * channels + read > row_bytes) --positions;
  return positions;
}

// Returns the rows done.
template <int kChannels>
HWY_INLINE int64_t AlongGroupsOfRows(const PixelRun& source, int64_t rows, const TapsView<int32_t>& taps,
                                     const PairedWeights& weights, int64_t width, uint8_t* target) {
  const int64_t row_bytes = source.width * kChannels;
  const int64_t safe = SafePositions(taps, width, weights.pairs, row_bytes, kChannels);
  const bool short_rows = row_bytes < BytesRead(weights.pairs, kChannels);
  int64_t y = 0;
  for (; y + 2 * kRows <= rows; y += 2 * kRows) {
    const uint8_t* sources[2 * kRows];
    uint8_t* targets[2 * kRows];
    for (int i = 0; i < 2 * kRows; ++i) {
      sources[i] = source.pixels + (y + i) * source.stride;
      targets[i] = target + (y + i) * width * kChannels;
    }
    // Loads beyond a row are in the next one.
    const int64_t end = y + 2 * kRows < rows && !short_rows ? width : safe;
    AlongSomeRows<kChannels>({sources, taps.first, weights, targets}, end);
    AlongEachRow<uint8_t, kChannels>(source, y, y + 2 * kRows, taps, end, width, target, width);
  }
  return y;
}

// Interleaves four rows of bytes to one of four channels.
HWY_INLINE void Interleave(const uint8_t* row, int64_t stride, int64_t width, uint8_t* target) {
  const hn::FixedTag<uint8_t, 16> block;
  int64_t x = 0;
  for (; x + 16 <= width; x += 16) {
    hn::StoreInterleaved4(hn::LoadU(block, row + x), hn::LoadU(block, row + stride + x),
                          hn::LoadU(block, row + 2 * stride + x), hn::LoadU(block, row + 3 * stride + x), block,
                          target + 4 * x);
  }
  for (; x < width; ++x) {
    for (int64_t i = 0; i < 4; ++i) target[4 * x + i] = row[i * stride + x];
  }
}

HWY_INLINE void Deinterleave(const uint8_t* source, int64_t width, uint8_t* row, int64_t stride) {
  const hn::FixedTag<uint8_t, 16> block;
  int64_t x = 0;
  for (; x + 16 <= width; x += 16) {
    hn::Vec<decltype(block)> rows[4];
    hn::LoadInterleaved4(block, source + 4 * x, rows[0], rows[1], rows[2], rows[3]);
    for (int64_t i = 0; i < 4; ++i) hn::StoreU(rows[i], block, row + i * stride + x);
  }
  for (; x < width; ++x) {
    for (int64_t i = 0; i < 4; ++i) row[i * stride + x] = source[4 * x + i];
  }
}

// Rows of one channel, four as one row of four channels, in turns of eight times kRows.
HWY_INLINE int64_t AlongGroupsOfGreyRows(const PixelRun& source, int64_t rows, const TapsView<int32_t>& taps,
                                         const PairedWeights& weights, int64_t width, uint8_t* target) {
  if (source.width > kMostInterleaved || width > kMostInterleaved) return 0;
  // The last loads read up to 16 bytes and a pair of pixels beyond a row.
  alignas(64) uint8_t interleaved[2 * kRows][4 * kMostInterleaved + 64];
  alignas(64) uint8_t filtered[2 * kRows][4 * kMostInterleaved];
  const uint8_t* sources[2 * kRows];
  uint8_t* targets[2 * kRows];
  for (int i = 0; i < 2 * kRows; ++i) {
    sources[i] = interleaved[i];
    targets[i] = filtered[i];
    std::memset(interleaved[i] + 4 * source.width, 0, 64);
  }
  const int64_t safe = SafePositions(taps, width, weights.pairs, 4 * source.width + 64, 4);
  int64_t y = 0;
  for (; y + 8 * kRows <= rows; y += 8 * kRows) {
    for (int i = 0; i < 2 * kRows; ++i) {
      Interleave(source.pixels + (y + 4 * i) * source.stride, source.stride, source.width, interleaved[i]);
    }
    AlongSomeRows<4>({sources, taps.first, weights, targets}, safe);
    for (int i = 0; i < 2 * kRows; ++i) Deinterleave(filtered[i], safe, target + (y + 4 * i) * width, width);
    AlongEachRow<uint8_t, 1>(source, y, y + 8 * kRows, taps, safe, width, target, width);
  }
  return y;
}

HWY_INLINE int64_t AlongManyRows(const PixelRun& source, int64_t rows, const TapsView<int32_t>& taps,
                                 const PairedWeights& weights, int64_t width, uint8_t* target) {
  if (source.channels == 1) return AlongGroupsOfGreyRows(source, rows, taps, weights, width, target);
  if (source.channels == 3) return AlongGroupsOfRows<3>(source, rows, taps, weights, width, target);
  if (source.channels == 4) return AlongGroupsOfRows<4>(source, rows, taps, weights, width, target);
  return 0;
}

struct RowPair {
  const uint8_t* first;
  const uint8_t* second;
};

// The same for any vector.
template <class D>
using SumsOf = hn::Repartition<int32_t, D>;

// Adds two rows, weighted, to the high and low sums of the vector's elements.
template <class D>
HWY_INLINE void AddRows(D bytes, RowPair rows, const uint32_t* weights, hn::Vec<SumsOf<D>>* high,
                        hn::Vec<SumsOf<D>>* low) {
  const SumsOf<D> sums;
  const hn::Repartition<int16_t, D> words;
  const auto zero = hn::Zero(bytes);
  const auto first = hn::LoadU(bytes, rows.first);
  const auto second = hn::LoadU(bytes, rows.second);
  const auto lower = hn::InterleaveLower(bytes, first, second);
  const auto upper = hn::InterleaveUpper(bytes, first, second);
  const auto of_high = hn::BitCast(words, hn::Set(sums, static_cast<int32_t>(weights[0])));
  const auto of_low = hn::BitCast(words, hn::Set(sums, static_cast<int32_t>(weights[1])));
  const auto add = [&](int at, hn::Vec<D> pairs) HWY_ATTR {
    auto unused = hn::Zero(sums);
    const auto values = hn::BitCast(words, pairs);
    high[at] = hn::ReorderWidenMulAccumulate(sums, values, of_high, high[at], unused);
    low[at] = hn::ReorderWidenMulAccumulate(sums, values, of_low, low[at], unused);
  };
  add(0, hn::InterleaveLower(bytes, lower, zero));
  add(1, hn::InterleaveUpper(bytes, lower, zero));
  add(2, hn::InterleaveLower(bytes, upper, zero));
  add(3, hn::InterleaveUpper(bytes, upper, zero));
}

// One vector of the result from `count` rows.
template <class D>
HWY_INLINE void SumOfRows(D bytes, const uint8_t* row, int64_t stride, int count, const uint32_t* weights,
                          uint8_t* target) {
  const SumsOf<D> sums;
  const hn::Repartition<int16_t, D> words;
  const auto zero = hn::Zero(sums);
  const auto start = hn::Set(sums, kHalf);
  hn::Vec<SumsOf<D>> high[4] = {zero, zero, zero, zero};
  hn::Vec<SumsOf<D>> low[4] = {start, start, start, start};
  for (; count > 1; count -= 2, row += 2 * stride, weights += 2) {
    AddRows(bytes, {row, row + stride}, weights, high, low);
  }
  if (count > 0) AddRows(bytes, {row, row}, weights, high, low);
  for (int i = 0; i < 4; ++i) {
    low[i] = hn::ShiftRight<kPrecisionBits>(hn::Add(hn::ShiftLeft<kLowBits>(high[i]), low[i]));
  }
  hn::StoreU(Saturated(hn::ReorderDemote2To(words, low[0], low[1]), hn::ReorderDemote2To(words, low[2], low[3])), bytes,
             target);
}

// One row of the result. Needs at least the elements of a narrow vector; returns whether there were.
HWY_INLINE bool AlongColumnOfBytes(const uint8_t* source, int64_t stride, int count, const uint32_t* weights,
                                   int64_t elements, uint8_t* target) {
  const Bytes narrow;
  const hn::ScalableTag<uint8_t> wide;
  const auto narrow_step = static_cast<int64_t>(hn::Lanes(narrow));
  const auto wide_step = static_cast<int64_t>(hn::Lanes(wide));
  if (elements < narrow_step) return false;
  int64_t x = 0;
  for (; x + wide_step <= elements; x += wide_step) SumOfRows(wide, source + x, stride, count, weights, target + x);
  for (; x < elements; x += narrow_step) {
    // The last ones that fill no vector are summed together with some of those before once more.
    const int64_t at = std::min(x, elements - narrow_step);
    SumOfRows(narrow, source + at, stride, count, weights, target + at);
  }
  return true;
}

#else

HWY_INLINE int64_t AlongManyRows(const PixelRun&, int64_t, const TapsView<int32_t>&, const PairedWeights&, int64_t,
                                 uint8_t*) {
  return 0;
}
HWY_INLINE bool AlongColumnOfBytes(const uint8_t*, int64_t, int, const uint32_t*, int64_t, uint8_t*) { return false; }

#endif

// One row of the result. A plain loop: compilers vectorize it well.
template <typename T>
HWY_INLINE void AlongColumn(const uint8_t* source, int64_t stride, int count, const typename Sum<T>::weight* weights,
                            int64_t elements, T* target) {
  using S = typename Sum<T>::type;
  int64_t x = 0;
  for (; x + kBlock <= elements; x += kBlock) {
    S sums[kBlock];
    for (int i = 0; i < kBlock; ++i) sums[i] = Sum<T>::kStart;
    for (int k = 0; k < count; ++k) {
      const T* row = reinterpret_cast<const T*>(source + k * stride) + x;
      for (int i = 0; i < kBlock; ++i) sums[i] += static_cast<S>(row[i]) * weights[k];
    }
    for (int i = 0; i < kBlock; ++i) target[x + i] = Sum<T>::Store(sums[i]);
  }
  for (; x < elements; ++x) {
    S sum = Sum<T>::kStart;
    for (int k = 0; k < count; ++k) {
      sum += static_cast<S>(reinterpret_cast<const T*>(source + k * stride)[x]) * weights[k];
    }
    target[x] = Sum<T>::Store(sum);
  }
}

}  // namespace

void RowsOfBytes(const PixelRun& source, int64_t rows, const TapsView<int32_t>& taps, const PairedWeights& weights,
                 int64_t width, uint8_t* target) {
  const int64_t done = AlongManyRows(source, rows, taps, weights, width, target);
  AlongRows<uint8_t>(source, done, rows, taps, 0, width, target, width);
}
void RowsOfFloats(const PixelRun& source, int64_t rows, const TapsView<double>& taps, int64_t width, float* target) {
  AlongRows<float>(source, 0, rows, taps, 0, width, target, width);
}
void RowsOfWords(const PixelRun& source, int64_t rows, const TapsView<double>& taps, int64_t width, uint16_t* target) {
  AlongRows<uint16_t>(source, 0, rows, taps, 0, width, target, width);
}
void ColumnsOfBytes(const PixelRun& source, const TapsView<int32_t>& taps, const PairedWeights& weights, int64_t height,
                    uint8_t* target) {
  const int64_t elements = source.width * source.channels;
  for (int64_t y = 0; y < height; ++y, target += elements) {
    const uint8_t* rows = source.pixels + taps.first[y] * source.stride;
    const uint32_t* paired = weights.words + y * weights.pairs * 2;
    if (AlongColumnOfBytes(rows, source.stride, taps.count[y], paired, elements, target)) continue;
    AlongColumn<uint8_t>(rows, source.stride, taps.count[y], taps.weights + y * taps.taps, elements, target);
  }
}
template <typename T>
HWY_INLINE void AlongColumns(const PixelRun& source, const TapsView<double>& taps, int64_t height, T* target) {
  const int64_t elements = source.width * source.channels;
  for (int64_t y = 0; y < height; ++y, target += elements) {
    AlongColumn<T>(source.pixels + taps.first[y] * source.stride, source.stride, taps.count[y],
                   taps.weights + y * taps.taps, elements, target);
  }
}
void ColumnsOfFloats(const PixelRun& source, const TapsView<double>& taps, int64_t height, float* target) {
  AlongColumns(source, taps, height, target);
}
void ColumnsOfWords(const PixelRun& source, const TapsView<double>& taps, int64_t height, uint16_t* target) {
  AlongColumns(source, taps, height, target);
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(RowsOfBytes);
HWY_EXPORT(RowsOfFloats);
HWY_EXPORT(RowsOfWords);
HWY_EXPORT(ColumnsOfBytes);
HWY_EXPORT(ColumnsOfFloats);
HWY_EXPORT(ColumnsOfWords);

namespace {

uint32_t Pair(int32_t first, int32_t second) {
  return (static_cast<uint32_t>(first) & 0xFFFF) | static_cast<uint32_t>(second) << 16;
}

TapsView<double> ViewOf(const FilterTaps& taps) {
  return {taps.first.data(), taps.count.data(), taps.weights.data(), taps.taps};
}

// Weights as integers, single and in pairs.
class FixedWeights {
 public:
  void Set(const FilterTaps& taps) {
    fixed_.resize(taps.weights.size());
    for (size_t i = 0; i < fixed_.size(); ++i) {
      fixed_[i] = FixedWeight(taps.weights[i]);
    }
    pairs_ = (*std::max_element(taps.count.begin(), taps.count.end()) + 1) / 2;
    words_.assign(taps.first.size() * pairs_ * 2, 0);
    for (size_t x = 0; x < taps.first.size(); ++x) {
      PairUp(fixed_.data() + x * taps.taps, taps.count[x], words_.data() + x * pairs_ * 2);
    }
  }

  TapsView<int32_t> Single(const FilterTaps& taps) const {
    return {taps.first.data(), taps.count.data(), fixed_.data(), taps.taps};
  }
  PairedWeights Paired() const { return {words_.data(), pairs_}; }

 private:
  static void PairUp(const int32_t* weights, int count, uint32_t* words) {
    constexpr int32_t kLow = (1 << kLowBits) - 1;
    for (int i = 0; i < count; i += 2, words += 2) {
      const int32_t second = i + 1 < count ? weights[i + 1] : 0;
      words[0] = Pair(weights[i] >> kLowBits, second >> kLowBits);
      words[1] = Pair(weights[i] & kLow, second & kLow);
    }
  }

  std::vector<int32_t> fixed_;
  int64_t pairs_ = 0;
  std::vector<uint32_t> words_;
};

// The thread's own, or `large` if that would keep too much.
const FixedWeights& WeightsOf(const FilterTaps& taps, FixedWeights& large) {
  thread_local FixedWeights kept;
  FixedWeights& weights = taps.weights.size() <= FilterTaps::kMostKept ? kept : large;
  weights.Set(taps);
  return weights;
}

}  // namespace

int32_t FixedWeight(double weight) {
  static_assert(kFixedOne == 1 << kPrecisionBits);
  return static_cast<int32_t>((weight < 0 ? -0.5 : 0.5) + weight * kFixedOne);
}

void FilterRows(const PixelRun& source, int64_t rows, const FilterTaps& taps, uint8_t* target) {
  FixedWeights large;
  const FixedWeights& weights = WeightsOf(taps, large);
  HWY_DYNAMIC_DISPATCH(RowsOfBytes)
  (source, rows, weights.Single(taps), weights.Paired(), static_cast<int64_t>(taps.first.size()), target);
}

void FilterRows(const PixelRun& source, int64_t rows, const FilterTaps& taps, float* target) {
  HWY_DYNAMIC_DISPATCH(RowsOfFloats)
  (source, rows, ViewOf(taps), static_cast<int64_t>(taps.first.size()), target);
}

void FilterRows(const PixelRun& source, int64_t rows, const FilterTaps& taps, uint16_t* target) {
  HWY_DYNAMIC_DISPATCH(RowsOfWords)
  (source, rows, ViewOf(taps), static_cast<int64_t>(taps.first.size()), target);
}

void FilterColumns(const PixelRun& source, const FilterTaps& taps, uint8_t* target) {
  FixedWeights large;
  const FixedWeights& weights = WeightsOf(taps, large);
  HWY_DYNAMIC_DISPATCH(ColumnsOfBytes)
  (source, weights.Single(taps), weights.Paired(), static_cast<int64_t>(taps.first.size()), target);
}

void FilterColumns(const PixelRun& source, const FilterTaps& taps, float* target) {
  HWY_DYNAMIC_DISPATCH(ColumnsOfFloats)
  (source, ViewOf(taps), static_cast<int64_t>(taps.first.size()), target);
}

void FilterColumns(const PixelRun& source, const FilterTaps& taps, uint16_t* target) {
  HWY_DYNAMIC_DISPATCH(ColumnsOfWords)
  (source, ViewOf(taps), static_cast<int64_t>(taps.first.size()), target);
}

}  // namespace headrace
#endif  // HWY_ONCE
