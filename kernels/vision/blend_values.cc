#include "kernels/vision/blend_values.h"

#include <algorithm>
#include <cstring>

#include "kernels/vision/join_channels.h"
#include "kernels/vision/luma_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/blend_values.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

// Plain loops: compilers vectorize them well.
HWY_INLINE uint8_t Blended(int32_t value, int32_t other, float factor) {
  float blended = static_cast<float>(other) + factor * static_cast<float>(value - other);
  blended = blended > 0 ? blended : 0;
  blended = blended < 255 ? blended : 255;
  return static_cast<uint8_t>(static_cast<int32_t>(blended));
}

}  // namespace

void WithValue(const uint8_t* HWY_RESTRICT source, int64_t count, uint8_t other, float factor,
               uint8_t* HWY_RESTRICT target) {
  for (int64_t i = 0; i < count; ++i) target[i] = Blended(source[i], other, factor);
}

void WithEach(const uint8_t* HWY_RESTRICT others, int64_t count, float factor, uint8_t* HWY_RESTRICT values) {
  for (int64_t i = 0; i < count; ++i) values[i] = Blended(values[i], others[i], factor);
}

void WithSmooth(const uint8_t* HWY_RESTRICT above, const uint8_t* HWY_RESTRICT row, const uint8_t* HWY_RESTRICT below,
                int64_t count, int64_t channels, float factor, uint8_t* HWY_RESTRICT target) {
  for (int64_t i = channels; i < count - channels; ++i) {
    const int32_t before = above[i - channels] + row[i - channels] + below[i - channels];
    const int32_t beside = above[i] + 5 * row[i] + below[i];
    const int32_t after = above[i + channels] + row[i + channels] + below[i + channels];
    target[i] = Blended(row[i], (2 * (before + beside + after) + 13) / 26, factor);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(WithValue);
HWY_EXPORT(WithEach);
HWY_EXPORT(WithSmooth);

void BlendWithValue(const uint8_t* source, int64_t count, uint8_t other, float factor, uint8_t* target) {
  HWY_DYNAMIC_DISPATCH(WithValue)(source, count, other, factor, target);
}

void BlendWithLuma(const uint8_t* rgb, int64_t pixels, float factor, uint8_t* target) {
  ForPlanesWithLuma(rgb, pixels, [=](int64_t first, PlanesWithLuma& planes) {
    for (uint8_t* const channel : planes.channels) {
      HWY_DYNAMIC_DISPATCH(WithEach)(planes.luma, planes.pixels, factor, channel);
    }
    JoinThreeChannels(planes.channels[0], planes.channels[1], planes.channels[2], planes.pixels, target + 3 * first);
  });
}

void BlendWithSmooth(const uint8_t* above, const uint8_t* row, const uint8_t* below, int64_t count, int64_t channels,
                     float factor, uint8_t* target) {
  const int64_t edge = std::min(channels, count);
  std::memcpy(target, row, static_cast<size_t>(edge));
  std::memcpy(target + count - edge, row + count - edge, static_cast<size_t>(edge));
  HWY_DYNAMIC_DISPATCH(WithSmooth)(above, row, below, count, channels, factor, target);
}

}  // namespace headrace
#endif  // HWY_ONCE
