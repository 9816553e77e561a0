#include "kernels/vision/pixels/blend_values.h"

#include <algorithm>
#include <cstring>

#include "kernels/vision/pixels/join_channels.h"
#include "kernels/vision/pixels/luma_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/blend_values.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Integers = hn::ScalableTag<int32_t>;
using Floats = hn::Rebind<float, Integers>;
using Bytes = hn::Rebind<uint8_t, Integers>;
using Integer = hn::Vec<Integers>;

HWY_INLINE int64_t Step() { return static_cast<int64_t>(hn::Lanes(Integers())); }
HWY_INLINE Integer Load(const uint8_t* bytes) { return hn::PromoteTo(Integers(), hn::LoadU(Bytes(), bytes)); }
HWY_INLINE Integer Sum(Integer first, Integer second, Integer third) { return hn::Add(hn::Add(first, second), third); }

// Written out, because compilers vectorize the limits as masks.
HWY_INLINE void StoreBlended(Integer value, Integer other, float factor, uint8_t* target) {
  const Floats floats;
  const auto difference = hn::ConvertTo(floats, hn::Sub(value, other));
  const auto blended = hn::Add(hn::ConvertTo(floats, other), hn::Mul(hn::Set(floats, factor), difference));
  const auto limited = hn::Min(hn::Max(blended, hn::Zero(floats)), hn::Set(floats, 255.0f));
  hn::StoreU(hn::DemoteTo(Bytes(), hn::ConvertTo(Integers(), limited)), Bytes(), target);
}

HWY_INLINE uint8_t Blended(int32_t value, int32_t other, float factor) {
  float blended = static_cast<float>(other) + factor * static_cast<float>(value - other);
  blended = blended > 0 ? blended : 0;
  blended = blended < 255 ? blended : 255;
  return static_cast<uint8_t>(static_cast<int32_t>(blended));
}

// A 26th of an odd number, which is never whole: its floor needs no exact quotient.
HWY_INLINE Integer FloorOf26th(Integer odd) {
  const Floats floats;
  return hn::ConvertTo(Integers(), hn::Mul(hn::ConvertTo(floats, odd), hn::Set(floats, 1.0f / 26)));
}

}  // namespace

void WithValue(const uint8_t* HWY_RESTRICT source, int64_t count, uint8_t other, float factor,
               uint8_t* HWY_RESTRICT target) {
  const auto others = hn::Set(Integers(), other);
  int64_t i = 0;
  for (; i + Step() <= count; i += Step()) StoreBlended(Load(source + i), others, factor, target + i);
  for (; i < count; ++i) target[i] = Blended(source[i], other, factor);
}

void WithEach(const uint8_t* HWY_RESTRICT others, int64_t count, float factor, uint8_t* HWY_RESTRICT values) {
  int64_t i = 0;
  for (; i + Step() <= count; i += Step()) StoreBlended(Load(values + i), Load(others + i), factor, values + i);
  for (; i < count; ++i) values[i] = Blended(values[i], others[i], factor);
}

void WithSmooth(const uint8_t* HWY_RESTRICT above, const uint8_t* HWY_RESTRICT row, const uint8_t* HWY_RESTRICT below,
                int64_t count, int64_t channels, float factor, uint8_t* HWY_RESTRICT target) {
  int64_t i = channels;
  for (; i + Step() <= count - channels; i += Step()) {
    const auto column = [&](int64_t at) HWY_ATTR { return Sum(Load(above + at), Load(row + at), Load(below + at)); };
    const Integer center = Load(row + i);
    // Five centers in all.
    const Integer sum = hn::Add(Sum(column(i - channels), column(i), column(i + channels)), hn::ShiftLeft<2>(center));
    const Integer smooth = FloorOf26th(hn::Add(hn::ShiftLeft<1>(sum), hn::Set(Integers(), 13)));
    StoreBlended(center, smooth, factor, target + i);
  }
  for (; i < count - channels; ++i) {
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
