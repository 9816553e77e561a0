// `SizeOfImage` gives the size of an image without its pixels: that of a decoded image, or what an encoded one says
// before it is decoded, and its format.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_DECODE_SIZE_OF_IMAGE_H_
#define HEADRACE_KERNELS_VISION_CODECS_DECODE_SIZE_OF_IMAGE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"
#include "kernels/vision/image/image_size.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

// Of an image (H, W, C) or (H, W), of the frames of a clip (T, H, W, C), or of encoded bytes decoded with these
// options. Fails as CheckImage or as Decode.
absl::StatusOr<ImageSize> SizeOfImage(const Tensor& image, const DecodeOptions& options);
// kGraph if no row of the type is an image, encoded or not.
absl::Status CheckImageOrEncoded(const ir::ColumnType& type);

// What V.Decode says of the images, and must be known before it: the attributes `orientation` and `max_pixels`.
std::vector<ir::Attribute> SizeOfImageAttributes();
ir::Attribute MaxPixelsAttribute();
DecodeOptions SizeOfImageOptions(const ir::Attributes& attributes);

// Of an encoded image alone, in decode.cc.
absl::StatusOr<ImageSize> SizeOfEncoded(const Tensor& encoded, const DecodeOptions& options);

// A format that Decode reads.
struct EncodedFormat {
  std::string_view name;
  std::string_view ending;  // of files
};
// By the first bytes; null: none of them.
const EncodedFormat* FormatOfEncoded(std::string_view bytes);
bool IsEncoded(DType dtype, int rank);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_DECODE_SIZE_OF_IMAGE_H_
