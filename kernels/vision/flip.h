// Mirror images. Pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_FLIP_H_
#define HEADRACE_KERNELS_VISION_FLIP_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "kernels/vision/image.h"

namespace headrace {

// One row of `width` pixels, back to front.
void ReverseRow(const uint8_t* source, int64_t width, int64_t pixel_bytes, uint8_t* target);

absl::StatusOr<Tensor> FlippedLeftRight(const Image& image);
absl::StatusOr<Tensor> FlippedTopBottom(const Image& image);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_FLIP_H_
