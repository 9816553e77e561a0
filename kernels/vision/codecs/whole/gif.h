// `DecodeGif` decodes the first frame of a GIF with giflib.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_GIF_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_GIF_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

bool LooksLikeGif(std::string_view bytes);

// The first frame on its canvas, whatever part is chosen: palette indices, or grey where the file has no palette. The
// canvas is the screen, or larger if the frame is; around the frame it has the transparent index, or 0, as Pillow's. A
// frame may say that its pixels have up to 12 bits; the lower 8 are its indices.
// kData if the bytes are not a GIF whose first frame is whole; kClosed if StopSignal is raised, kResource if memory is
// lacking.
absl::StatusOr<DecodedPart> DecodeGif(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_GIF_H_
