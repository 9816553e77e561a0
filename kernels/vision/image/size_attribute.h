// `SizeAttribute` declares the attribute `size`, and `InferOfSize` gives the type of the result. Use them for kernels
// whose results have a height and width that the user gives.
// Threads: constants and pure functions.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_SIZE_ATTRIBUTE_H_
#define HEADRACE_KERNELS_VISION_IMAGE_SIZE_ATTRIBUTE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"
#include "kernels/vision/image/image.h"

namespace headrace {

// The longest side of an image, in pixels: that of a JPEG.
constexpr int64_t kMostSide = 65535;

// (height, width), each from 1 to kMostSide, or one number for both.
ir::Attribute SizeAttribute(std::string doc = "(height, width), or one number for a square.");

// The image's type, with the height and width of `size`. Fails as ImageTypeOf.
absl::StatusOr<std::vector<ir::ColumnType>> InferOfSize(const ir::Attributes& attributes,
                                                        absl::Span<const ir::ColumnType> inputs, PixelTypes accepted);
// That of kernels that only move pixels.
absl::StatusOr<std::vector<ir::ColumnType>> InferCutToSize(const ir::Attributes& attributes,
                                                           absl::Span<const ir::ColumnType> inputs);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_SIZE_ATTRIBUTE_H_
