// `EncodableImage` checks what the kernels that encode images take: uint8 or uint16 images of certain numbers of
// channels.
// Threads: pure functions.
#ifndef HEADRACE_KERNELS_VISION_CODECS_ENCODABLE_IMAGE_H_
#define HEADRACE_KERNELS_VISION_CODECS_ENCODABLE_IMAGE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "ir/type.h"
#include "kernels/vision/image/image.h"

namespace headrace {

struct EncodableChannels {
  absl::Span<const int64_t> counts;
  std::string_view in_words;  // "1 or 3"
  bool words = false;         // uint16, too
};

// kGraph, naming dtype and shape, if the tensor is no such image.
absl::StatusOr<Image> EncodableImage(const Tensor& tensor, const EncodableChannels& channels);

// Bytes of shape (); kGraph if no row of the type can be such an image.
absl::StatusOr<std::vector<ir::ColumnType>> InferEncoded(const ir::ColumnType& input,
                                                         const EncodableChannels& channels);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_ENCODABLE_IMAGE_H_
