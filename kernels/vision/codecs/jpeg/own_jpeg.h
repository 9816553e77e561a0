// `DecodeOwnJpeg` decodes the JPEGs of common kinds (own/sequential_jpeg.h) that are not damaged, with libjpeg-turbo's
// pixels.
// Threads: any thread; each keeps a decoder's tables for its next image.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_JPEG_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_JPEG_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

// Nullopt: libjpeg must decode it, or say why it cannot; `choose` may have been called. Errors are those of `choose`,
// kClosed if StopSignal is raised, kResource if memory is lacking.
absl::StatusOr<std::optional<DecodedPart>> DecodeOwnJpeg(std::string_view bytes, const DecodeOptions& options,
                                                         const ChoosePart& choose);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_JPEG_H_
