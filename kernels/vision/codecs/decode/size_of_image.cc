#include "kernels/vision/codecs/decode/size_of_image.h"

#include <vector>

#include "core/error.h"
#include "ir/clip_types.h"
#include "kernels/by_frame.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/image/pixel_limit.h"

namespace headrace {

absl::StatusOr<ImageSize> SizeOfImage(const Tensor& image, const DecodeOptions& options) {
  if (IsEncoded(image.dtype(), image.rank())) return SizeOfEncoded(image, options);
  HEADRACE_ASSIGN_OR_RETURN(const Tensor frame, FirstFrame(image));
  HEADRACE_RETURN_IF_ERROR(CheckImage(frame, PixelTypes::kFixedSize));
  return ImageSize{frame.dim(0), frame.dim(1)};
}

absl::Status CheckImageOrEncoded(const ir::ColumnType& type) {
  const bool bytes = type.dtype == DType::kBytes && (!type.shape || type.shape->empty());
  if (bytes || (type.shape && IsEncoded(type.dtype, static_cast<int>(type.shape->size())))) return absl::OkStatus();
  HEADRACE_ASSIGN_OR_RETURN(const ir::ColumnType frame, ir::FrameTypeOf(type));
  return ImageTypeOf(frame, PixelTypes::kFixedSize).status();
}

ir::Attribute MaxPixelsAttribute() {
  return {.name = "max_pixels",
          .type = ir::AttributeType::kInt,
          .doc = "Images of more pixels are refused; None: no limit.",
          .default_value = Cat(kDefaultMaxPixels),
          .nullable = true,
          .minimum = 1};
}

std::vector<ir::Attribute> SizeOfImageAttributes() {
  return {{.name = "orientation",
           .type = ir::AttributeType::kBool,
           .doc = "Whether Decode turns the image as its EXIF orientation says.",
           .default_value = "False"},
          MaxPixelsAttribute()};
}

DecodeOptions SizeOfImageOptions(const ir::Attributes& attributes) {
  DecodeOptions options;
  options.orientation = attributes.Bool("orientation");
  if (!attributes.IsNone("max_pixels")) options.max_pixels = attributes.Int("max_pixels");
  return options;
}

}  // namespace headrace
