#include "kernels/vision/pixels/split_channels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/split_channels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// One row of three channels into three planes, from pixel `x` on.
template <typename T>
HWY_INLINE void SplitThreeOneByOne(const T* HWY_RESTRICT source, int64_t x, int64_t width, T* HWY_RESTRICT first,
                                   T* HWY_RESTRICT second, T* HWY_RESTRICT third) {
  for (; x < width; ++x) {
    first[x] = source[3 * x];
    second[x] = source[3 * x + 1];
    third[x] = source[3 * x + 2];
  }
}

template <typename T>
HWY_INLINE void SplitThree(const T* HWY_RESTRICT source, int64_t width, T* HWY_RESTRICT first, T* HWY_RESTRICT second,
                           T* HWY_RESTRICT third) {
  // Blocks of 16 bytes: wider vectors would be assembled from them.
  const hn::CappedTag<T, 16 / sizeof(T)> block;
  const auto step = static_cast<int64_t>(hn::Lanes(block));
  int64_t x = 0;
  for (; x + step <= width; x += step) {
    hn::Vec<decltype(block)> a, b, c;
    hn::LoadInterleaved3(block, source + 3 * x, a, b, c);
    hn::StoreU(a, block, first + x);
    hn::StoreU(b, block, second + x);
    hn::StoreU(c, block, third + x);
  }
  SplitThreeOneByOne(source, x, width, first, second, third);
}

// Bytes alone: of wider values there are few such pixels.
HWY_INLINE void SplitFour(const uint8_t* HWY_RESTRICT source, int64_t width, int64_t plane_bytes,
                          uint8_t* HWY_RESTRICT target) {
  const hn::CappedTag<uint8_t, 16> block;
  const auto step = static_cast<int64_t>(hn::Lanes(block));
  int64_t x = 0;
  for (; x + step <= width; x += step) {
    hn::Vec<decltype(block)> a, b, c, d;
    hn::LoadInterleaved4(block, source + 4 * x, a, b, c, d);
    hn::StoreU(a, block, target + x);
    hn::StoreU(b, block, target + plane_bytes + x);
    hn::StoreU(c, block, target + 2 * plane_bytes + x);
    hn::StoreU(d, block, target + 3 * plane_bytes + x);
  }
  for (; x < width; ++x) {
    for (int64_t c = 0; c < 4; ++c) target[c * plane_bytes + x] = source[4 * x + c];
  }
}

template <typename T>
HWY_INLINE void Split(const uint8_t* row, int64_t width, int64_t channels, int64_t plane_bytes, uint8_t* target) {
  const T* source = reinterpret_cast<const T*>(row);
  const auto plane = [&](int64_t c) HWY_ATTR { return reinterpret_cast<T*>(target + c * plane_bytes); };
  if (channels == 3) return SplitThree(source, width, plane(0), plane(1), plane(2));
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t x = 0; x < width; ++x) plane(c)[x] = source[x * channels + c];
  }
}

}  // namespace

void SplitRow(const uint8_t* row, int64_t width, int64_t channels, int64_t item, int64_t plane_bytes, uint8_t* target) {
  switch (item) {
    case 1:
      if (channels == 4) return SplitFour(row, width, plane_bytes, target);
      return Split<uint8_t>(row, width, channels, plane_bytes, target);
    case 2:
      return Split<uint16_t>(row, width, channels, plane_bytes, target);
    case 4:
      return Split<uint32_t>(row, width, channels, plane_bytes, target);
    default:
      return Split<uint64_t>(row, width, channels, plane_bytes, target);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(SplitRow);

void SplitChannels(const uint8_t* row, int64_t width, int64_t channels, int64_t item, int64_t plane_bytes,
                   uint8_t* target) {
  HWY_DYNAMIC_DISPATCH(SplitRow)(row, width, channels, item, plane_bytes, target);
}

}  // namespace headrace
#endif  // HWY_ONCE
