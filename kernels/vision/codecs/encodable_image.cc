#include "kernels/vision/codecs/encodable_image.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/error.h"

namespace headrace {
namespace {

absl::Status Wrong(const EncodableChannels& channels, DType dtype, std::string_view got) {
  const std::string_view advice = dtype == DType::kUInt16 && !channels.words ? "; 16 bits need a PNG"
                                  : dtype == DType::kFloat32 ? "; put it before ToFloat, Normalize and TypeCast"
                                                             : "";
  return GraphError("needs an image of uint8 ", channels.words ? "or uint16 " : "", "with ", channels.in_words,
                    " channels; got ", got, advice);
}

bool Has(const EncodableChannels& channels, DType dtype) {
  return dtype == DType::kUInt8 || (channels.words && dtype == DType::kUInt16);
}

bool Has(const EncodableChannels& channels, int64_t count) {
  return std::find(channels.counts.begin(), channels.counts.end(), count) != channels.counts.end();
}

}  // namespace

absl::StatusOr<Image> EncodableImage(const Tensor& tensor, const EncodableChannels& channels) {
  HEADRACE_ASSIGN_OR_RETURN(Image image, ImageOf(tensor, PixelTypes::kByteWordOrFloat));
  if (!Has(channels, image.dtype()) || !Has(channels, image.channels)) {
    return Wrong(channels, image.dtype(), tensor.TypeName());
  }
  return image;
}

absl::StatusOr<std::vector<ir::ColumnType>> InferEncoded(const ir::ColumnType& input,
                                                         const EncodableChannels& channels) {
  HEADRACE_ASSIGN_OR_RETURN(const ir::ColumnType type, ImageTypeOf(input, PixelTypes::kByteWordOrFloat));
  if (!Has(channels, type.dtype) && type.dtype != DType::kUnknown)
    return Wrong(channels, type.dtype, ir::TypeName(input));
  if (type.shape) {
    const int64_t count = type.shape->size() == 3 ? (*type.shape)[2] : 1;
    if (count != ir::kUnknownDim && !Has(channels, count)) return Wrong(channels, type.dtype, ir::TypeName(input));
  }
  return std::vector{ir::ColumnType::Of(DType::kBytes, {})};
}

}  // namespace headrace
