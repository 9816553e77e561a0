#include "kernels/vision/encodable_image.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace headrace {
namespace {

absl::Status Wrong(const EncodableChannels& channels, std::string_view got) {
  return GraphError("needs an image of uint8 with ", channels.in_words, " channels; got ", got);
}

bool Has(const EncodableChannels& channels, int64_t count) {
  return std::find(channels.counts.begin(), channels.counts.end(), count) != channels.counts.end();
}

}  // namespace

absl::StatusOr<Image> EncodableImage(const Tensor& tensor, const EncodableChannels& channels) {
  HEADRACE_ASSIGN_OR_RETURN(Image image, ImageOf(tensor, PixelTypes::kByteOrFloat));
  if (image.dtype() != DType::kUInt8 || !Has(channels, image.channels)) return Wrong(channels, tensor.TypeName());
  return image;
}

absl::StatusOr<std::vector<ir::ColumnType>> InferEncoded(const ir::ColumnType& input,
                                                         const EncodableChannels& channels) {
  HEADRACE_ASSIGN_OR_RETURN(const ir::ColumnType type, ImageTypeOf(input, PixelTypes::kByteOrFloat));
  if (type.dtype != DType::kUInt8 && type.dtype != DType::kUnknown) return Wrong(channels, ir::TypeName(input));
  if (type.shape) {
    const int64_t count = type.shape->size() == 3 ? (*type.shape)[2] : 1;
    if (count != ir::kUnknownDim && !Has(channels, count)) return Wrong(channels, ir::TypeName(input));
  }
  return std::vector{ir::ColumnType::Of(DType::kBytes, {})};
}

}  // namespace headrace
