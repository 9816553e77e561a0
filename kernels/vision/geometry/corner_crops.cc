#include "kernels/vision/geometry/corner_crops.h"

#include <string_view>
#include <utility>

#include "core/error.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/image/centered_begin.h"
#include "kernels/vision/image/size_attribute.h"

namespace headrace {
namespace {

absl::Status CheckSide(std::string_view side, int64_t crop, int64_t size) {
  if (size == ir::kUnknownDim || crop <= size) return absl::OkStatus();
  return GraphError("the crop's ", side, " is ", crop, ", but the image's is ", size,
                    "; resize the image to at least the size of the crop first");
}

}  // namespace

absl::Status CheckCorners(const CropSize& size, int64_t height, int64_t width) {
  HEADRACE_RETURN_IF_ERROR(CheckSide("height", size.height, height));
  return CheckSide("width", size.width, width);
}

absl::Status AppendCorners(const CropSize& size, const Image& image, OutputAllocator& output, Tensors& crops) {
  HEADRACE_RETURN_IF_ERROR(CheckCorners(size, image.height, image.width));
  const int64_t bottom = image.height - size.height;
  const int64_t right = image.width - size.width;
  const int64_t middle_top = CenteredBegin(image.height, size.height, Centering::kEven);
  const int64_t middle_left = CenteredBegin(image.width, size.width, Centering::kEven);
  const std::pair<int64_t, int64_t> begins[] = {
      {0, 0}, {0, right}, {bottom, 0}, {bottom, right}, {middle_top, middle_left}};
  for (const auto& [top, left] : begins) {
    HEADRACE_ASSIGN_OR_RETURN(Tensor crop, TensorOf(Cropped(image, top, left, size.height, size.width), output));
    crops.push_back(std::move(crop));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ir::ColumnType>> InferCorners(const ir::Attributes& attributes,
                                                         absl::Span<const ir::ColumnType> inputs, size_t count) {
  const CropSize size(attributes);
  std::vector<ir::ColumnType> crops;
  for (const ir::ColumnType& input : inputs) {
    HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(input, PixelTypes::kFixedSize));
    if (type.shape) HEADRACE_RETURN_IF_ERROR(CheckCorners(size, (*type.shape)[0], (*type.shape)[1]));
    crops.insert(crops.end(), count, WithSize(std::move(type), size.height, size.width));
  }
  return crops;
}

ir::Attribute CornerSizeAttribute() {
  return SizeAttribute("(height, width) of each crop, or one number for squares.");
}

}  // namespace headrace
