// `FlippedLeftRight` and `FlippedTopBottom` mirror images.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_FLIP_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_FLIP_H_

#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/tensor.h"
#include "kernels/vision/image/image.h"

namespace headrace {

absl::StatusOr<Tensor> FlippedLeftRight(const Image& image, OutputAllocator& output);
absl::StatusOr<Tensor> FlippedTopBottom(const Image& image, OutputAllocator& output);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_FLIP_H_
