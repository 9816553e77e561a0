// `SizeAttribute` declares the attribute `size` of kernels whose results have a height and width that the user gives.
// Threads: constants and pure functions.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_SIZE_ATTRIBUTE_H_
#define HEADRACE_KERNELS_VISION_IMAGE_SIZE_ATTRIBUTE_H_

#include <cstdint>
#include <string>

#include "ir/declaration.h"

namespace headrace {

// The longest side of an image, in pixels: that of a JPEG.
constexpr int64_t kMostSide = 65535;

// (height, width), each from 1 to kMostSide, or one number for both.
ir::Attribute SizeAttribute(std::string doc = "(height, width), or one number for a square.");

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_SIZE_ATTRIBUTE_H_
