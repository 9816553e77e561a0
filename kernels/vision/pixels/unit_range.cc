#include "kernels/vision/pixels/unit_range.h"

#include <algorithm>

#include "core/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/unit_range.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {

// A plain loop to the end: compilers vectorize it well.
bool AllWithin(const float* HWY_RESTRICT values, int64_t count) {
  uint32_t within = 1;
  for (int64_t i = 0; i < count; ++i) {
    within &= static_cast<uint32_t>(values[i] >= 0.0f) & static_cast<uint32_t>(values[i] <= 1.0f);
  }
  return within != 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(AllWithin);

absl::Status CheckUnitRange(const float* values, int64_t count) {
  if (HWY_DYNAMIC_DISPATCH(AllWithin)(values, count)) return absl::OkStatus();
  const float outside = *std::find_if_not(values, values + count, [](float value) { return value >= 0 && value <= 1; });
  return DataError("takes floats of 0 … 1, and got ", outside,
                   ": make them by ToFloat(), not by TypeCast, put it before Normalize, and after bicubic or lanczos "
                   "interpolation, which leaves that range");
}

absl::Status CheckUnitRange(const Image& image) {
  if (image.dtype() != DType::kFloat32) return absl::OkStatus();
  for (int64_t y = 0; y < image.height; ++y) {
    HEADRACE_RETURN_IF_ERROR(
        CheckUnitRange(reinterpret_cast<const float*>(image.row(y)), image.width * image.channels));
  }
  return absl::OkStatus();
}

}  // namespace headrace
#endif  // HWY_ONCE
