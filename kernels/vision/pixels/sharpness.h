// `WithSharpness` blends an image with its smoothing: uint8 as Pillow's ImageEnhance.Sharpness, floats as torchvision's
// tensors.
// Threads: a pure function; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_SHARPNESS_H_
#define HEADRACE_KERNELS_VISION_PIXELS_SHARPNESS_H_

#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "kernels/vision/image/image.h"

namespace headrace {

// Sharpens or smooths an image of uint8, or of float32 within 0 … 1. `factor`: 0 smooth, 1 unchanged, above 1 sharper.
// Pixels at the border stay as they are.
absl::StatusOr<Tensor> WithSharpness(const Image& image, double factor, OutputAllocator& output);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_SHARPNESS_H_
