// `CheckUnitRange` checks the range of floats that are an image's values: 0 … 1.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_UNIT_RANGE_H_
#define HEADRACE_KERNELS_VISION_PIXELS_UNIT_RANGE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/vision/image/image.h"

namespace headrace {

// kData, naming the first value that is not within 0 … 1; what is no number is not.
absl::Status CheckUnitRange(const float* values, int64_t count);
// Takes pixels of other types, too, whose values are all within their range.
absl::Status CheckUnitRange(const Image& image);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_UNIT_RANGE_H_
