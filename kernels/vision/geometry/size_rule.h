// `SizeRule` gives the size to which a kernel resizes an image. Use it with `InferBy` and `KeepsSizeBy`, for kernels
// whose result depends in size on the attributes and the size of the image alone.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_SIZE_RULE_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_SIZE_RULE_H_

#include <algorithm>
#include <cstdint>

#include "ir/attributes.h"
#include "ir/declaration.h"
#include "kernels/vision/image/image_size.h"

namespace headrace {

// The length of a side, rounded toward zero; at least 1. Declared types may have longer sides than images can: those
// are beyond all images afterwards, too.
inline int64_t WholeSide(double length) {
  constexpr double kBeyondAll = 1e12;
  return static_cast<int64_t>(std::clamp(length, 1.0, kBeyondAll));
}

using SizeRule = ImageSize (*)(const ir::Attributes& attributes, ImageSize image);

// The type of the result, whose size is known where that of all images is.
ir::InferKernel InferBy(SizeRule rule);
// Whether every image has the size that it is given.
ir::IsKernelIdentity KeepsSizeBy(SizeRule rule);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_SIZE_RULE_H_
