// `DecodeLosslessJpeg` decodes JPEGs of the lossless process with Huffman codes (T.81, annex H), which libjpeg-turbo 2
// does not read. Use it where libjpeg refuses a file that IsLosslessJpeg.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_LOSSLESS_JPEG_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_LOSSLESS_JPEG_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

// By its frame header.
bool IsLosslessJpeg(std::string_view bytes);

// The whole image, whatever part is chosen: grey or RGB of 2 to 8 bits, which are not scaled, as by libjpeg-turbo 3.
// kData if the bytes are damaged, or a JPEG of another kind; kClosed if StopSignal is raised.
absl::StatusOr<DecodedPart> DecodeLosslessJpeg(std::string_view bytes, const DecodeOptions& options,
                                               const ChoosePart& choose);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_LOSSLESS_JPEG_H_
