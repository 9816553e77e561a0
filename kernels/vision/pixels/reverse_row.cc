#include "kernels/vision/pixels/reverse_row.h"

#include <array>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/reverse_row.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Reverses pixels of kBytes bytes one by one; 0: any number.
template <int kBytes>
HWY_INLINE void ReverseEach(const uint8_t* source, int64_t width, int64_t pixel_bytes, uint8_t* target) {
  if (kBytes > 0) pixel_bytes = kBytes;
  const uint8_t* pixel = source + (width - 1) * pixel_bytes;
  for (int64_t x = 0; x < width; ++x, pixel -= pixel_bytes, target += pixel_bytes) {
    std::memcpy(target, pixel, pixel_bytes);
  }
}

#if HWY_TARGET != HWY_SCALAR

// The indices that reverse the whole pixels of a block of 16 bytes, without the first `unused` bytes.
template <int kBytes>
constexpr std::array<uint8_t, 16> OrderInBlock(int unused) {
  std::array<uint8_t, 16> order = {};
  for (int i = 0; i < 16 - unused; ++i) {
    order[i] = static_cast<uint8_t>(16 - kBytes - i / kBytes * kBytes + i % kBytes);
  }
  return order;
}

// Pixels that fill blocks, a vector at a time. Returns the pixels done.
template <int kBytes>
HWY_INLINE int64_t ReverseVectors(const uint8_t* source, int64_t width, uint8_t* target) {
  alignas(16) static constexpr std::array<uint8_t, 16> kOrder = OrderInBlock<kBytes>(0);
  const hn::ScalableTag<uint8_t> bytes;
  const int64_t step = static_cast<int64_t>(hn::Lanes(bytes)) / kBytes;
  const auto order = hn::LoadDup128(bytes, kOrder.data());
  int64_t x = 0;
  for (; x + step <= width; x += step) {
    const auto pixels = hn::LoadU(bytes, source + (width - x - step) * kBytes);
    hn::StoreU(hn::ReverseBlocks(bytes, hn::TableLookupBytes(pixels, order)), bytes, target + x * kBytes);
  }
  return x;
}

// Other pixels, one block at a time: each load begins early and each store ends late, which the next one overwrites, so
// the last few pixels are not done. Returns the pixels done.
template <int kBytes>
HWY_INLINE int64_t ReverseBlocks(const uint8_t* source, int64_t width, uint8_t* target) {
  constexpr int kPixels = 16 / kBytes;
  constexpr int kUnused = 16 - kPixels * kBytes;
  alignas(16) static constexpr std::array<uint8_t, 16> kOrder = OrderInBlock<kBytes>(kUnused);
  const hn::FixedTag<uint8_t, 16> block;
  const auto order = hn::Load(block, kOrder.data());
  int64_t x = 0;
  for (; x + kPixels + 1 <= width; x += kPixels) {
    const auto pixels = hn::LoadU(block, source + (width - x - kPixels) * kBytes - kUnused);
    hn::StoreU(hn::TableLookupBytes(pixels, order), block, target + x * kBytes);
  }
  return x;
}

#endif

template <int kBytes>
HWY_INLINE void ReversePixels(const uint8_t* source, int64_t width, uint8_t* target) {
  int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (16 % kBytes == 0) {
    done = ReverseVectors<kBytes>(source, width, target);
  } else {
    done = ReverseBlocks<kBytes>(source, width, target);
  }
#endif
  ReverseEach<kBytes>(source, width - done, kBytes, target + done * kBytes);
}

}  // namespace

void Reverse(const uint8_t* source, int64_t width, int64_t pixel_bytes, uint8_t* target) {
  switch (pixel_bytes) {
    case 1:
      return ReversePixels<1>(source, width, target);
    case 2:
      return ReversePixels<2>(source, width, target);
    case 3:
      return ReversePixels<3>(source, width, target);
    case 4:
      return ReversePixels<4>(source, width, target);
    case 8:
      return ReversePixels<8>(source, width, target);
    case 12:
      return ReversePixels<12>(source, width, target);
    default:
      return ReverseEach<0>(source, width, pixel_bytes, target);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(Reverse);

void ReverseRow(const uint8_t* source, int64_t width, int64_t pixel_bytes, uint8_t* target) {
  HWY_DYNAMIC_DISPATCH(Reverse)(source, width, pixel_bytes, target);
}

}  // namespace headrace
#endif  // HWY_ONCE
