#include "kernels/vision/pixels/weighted_sum.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/weighted_sum.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {

// Plain loops: compilers vectorize them well.
void AddBytes(const uint8_t* HWY_RESTRICT values, int64_t count, float weight, float* HWY_RESTRICT sums) {
  for (int64_t i = 0; i < count; ++i) sums[i] += weight * static_cast<float>(values[i]);
}

void AddFloats(const float* HWY_RESTRICT values, int64_t count, float weight, float* HWY_RESTRICT sums) {
  for (int64_t i = 0; i < count; ++i) sums[i] += weight * values[i];
}

void Round(const float* HWY_RESTRICT sums, int64_t count, uint8_t* HWY_RESTRICT target) {
  for (int64_t i = 0; i < count; ++i) {
    float value = sums[i] + 0.5f;
    value = value < 255 ? value : 255;
    target[i] = static_cast<uint8_t>(static_cast<int32_t>(value));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(AddBytes);
HWY_EXPORT(AddFloats);
HWY_EXPORT(Round);

void AddWeighted(const uint8_t* values, int64_t count, float weight, float* sums) {
  HWY_DYNAMIC_DISPATCH(AddBytes)(values, count, weight, sums);
}

void AddWeighted(const float* values, int64_t count, float weight, float* sums) {
  HWY_DYNAMIC_DISPATCH(AddFloats)(values, count, weight, sums);
}

void StoreRounded(const float* sums, int64_t count, uint8_t* target) {
  HWY_DYNAMIC_DISPATCH(Round)(sums, count, target);
}

void StoreRounded(const float* sums, int64_t count, float* target) {
  std::memcpy(target, sums, static_cast<size_t>(count) * sizeof(float));
}

}  // namespace headrace
#endif  // HWY_ONCE
