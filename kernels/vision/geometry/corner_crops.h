// `AppendCorners` cuts the four corners and the middle out of an image, as FiveCrop and TenCrop do.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_CORNER_CROPS_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_CORNER_CROPS_H_

#include <vector>

#include "kernels/kernel.h"
#include "kernels/vision/image/image.h"

namespace headrace {

// Height and width of the crops.
struct CropSize {
  explicit CropSize(const ir::Attributes& attributes)
      : height(attributes.Ints("size")[0]), width(attributes.Ints("size")[1]) {}

  int64_t height;
  int64_t width;
};

// kGraph if the image is smaller than the crops; kUnknownDim where a side is not known.
absl::Status CheckCorners(const CropSize& size, int64_t height, int64_t width);

// Appends the crops: upper left, upper right, lower left, lower right, middle. kGraph as CheckCorners.
absl::Status AppendCorners(const CropSize& size, const Image& image, OutputAllocator& output, Tensors& crops);

// The types of `count` crops of each input.
absl::StatusOr<std::vector<ir::ColumnType>> InferCorners(const ir::Attributes& attributes,
                                                         absl::Span<const ir::ColumnType> inputs, size_t count);

ir::Attribute CornerSizeAttribute();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_CORNER_CROPS_H_
