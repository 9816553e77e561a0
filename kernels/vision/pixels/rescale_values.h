// `RescaleValues` computes x · scale + shift over a run of values, in float32.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_RESCALE_VALUES_H_
#define HEADRACE_KERNELS_VISION_PIXELS_RESCALE_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/dtype.h"
#include "ir/type.h"

namespace headrace {

// `dtype`: any number.
void RescaleValues(const uint8_t* source, DType dtype, int64_t count, float scale, float shift, float* target);

// What kernels that do this give: float32 of the shape of their input; kGraph unless that is numbers.
absl::StatusOr<std::vector<ir::ColumnType>> InferRescaled(absl::Span<const ir::ColumnType> inputs);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_RESCALE_VALUES_H_
