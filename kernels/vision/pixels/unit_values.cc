#include "kernels/vision/pixels/unit_values.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/unit_values.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

// A multiple of 1 and 3 channels that suits every vector.
constexpr int64_t kPattern = 48;

HWY_INLINE float Limited(float value) {
  value = value > 0 ? value : 0;
  return value < 1 ? value : 1;
}

}  // namespace

// Plain loops: compilers vectorize them well.
void UnitsWithValue(const float* HWY_RESTRICT source, int64_t count, float share, float factor,
                    float* HWY_RESTRICT target) {
  for (int64_t i = 0; i < count; ++i) target[i] = Limited(source[i] * factor + share);
}

void UnitsWithSmooth(const float* HWY_RESTRICT above, const float* HWY_RESTRICT row, const float* HWY_RESTRICT below,
                     int64_t count, int64_t channels, float smoothness, float* HWY_RESTRICT target) {
  for (int64_t i = channels; i < count - channels; ++i) {
    const float before = above[i - channels] + row[i - channels] + below[i - channels];
    const float beside = above[i] + 5 * row[i] + below[i];
    const float after = above[i + channels] + row[i + channels] + below[i + channels];
    const float smooth = (before + beside + after) * (1.0f / 13);
    target[i] = Limited(row[i] + smoothness * (smooth - row[i]));
  }
}

void Solarized(const float* HWY_RESTRICT source, int64_t count, float threshold, float* HWY_RESTRICT target) {
  for (int64_t i = 0; i < count; ++i) target[i] = source[i] < threshold ? source[i] : 1 - source[i];
}

void Posterized(const float* HWY_RESTRICT source, int64_t count, float levels, float* HWY_RESTRICT target) {
  for (int64_t i = 0; i < count; ++i) {
    const auto level = static_cast<float>(static_cast<int32_t>(source[i] * levels));
    target[i] = (level < levels - 1 ? level : levels - 1) * (1 / levels);
  }
}

void Shifted(const float* HWY_RESTRICT source, int64_t count, const float* HWY_RESTRICT by,
             float* HWY_RESTRICT target) {
  int64_t i = 0;
  for (; i + kPattern <= count; i += kPattern) {
    for (int64_t k = 0; k < kPattern; ++k) target[i + k] = Limited(source[i + k] + by[k]);
  }
  for (int64_t k = 0; i + k < count; ++k) target[i + k] = Limited(source[i + k] + by[k]);
}

int64_t Sum(const float* HWY_RESTRICT values, int64_t count) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<int32_t>(values[i] * (1 << 30));
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(UnitsWithValue);
HWY_EXPORT(UnitsWithSmooth);
HWY_EXPORT(Solarized);
HWY_EXPORT(Posterized);
HWY_EXPORT(Shifted);
HWY_EXPORT(Sum);

void BlendWithValue(const float* source, int64_t count, float other, double factor, float* target) {
  const float share = other * static_cast<float>(1 - factor);
  HWY_DYNAMIC_DISPATCH(UnitsWithValue)(source, count, share, static_cast<float>(factor), target);
}

void BlendWithSmooth(const float* above, const float* row, const float* below, int64_t count, int64_t channels,
                     double factor, float* target) {
  const int64_t edge = std::min(channels, count);
  std::copy_n(row, edge, target);
  std::copy_n(row + count - edge, edge, target + count - edge);
  HWY_DYNAMIC_DISPATCH(UnitsWithSmooth)(above, row, below, count, channels, static_cast<float>(1 - factor), target);
}

void SolarizeValues(const float* source, int64_t count, float threshold, float* target) {
  HWY_DYNAMIC_DISPATCH(Solarized)(source, count, threshold, target);
}

void PosterizeValues(const float* source, int64_t count, int bits, float* target) {
  HWY_DYNAMIC_DISPATCH(Posterized)(source, count, static_cast<float>(1 << bits), target);
}

void ShiftValues(const float* source, int64_t count, int64_t channels, const std::array<float, 3>& by, float* target) {
  float pattern[48];
  for (size_t i = 0; i < 48; ++i) pattern[i] = by[i % static_cast<size_t>(channels)];
  HWY_DYNAMIC_DISPATCH(Shifted)(source, count, pattern, target);
}

int64_t SumValues(const float* values, int64_t count) { return HWY_DYNAMIC_DISPATCH(Sum)(values, count); }

}  // namespace headrace
#endif  // HWY_ONCE
