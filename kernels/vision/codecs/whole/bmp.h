// `DecodeBmp` decodes BMP: Windows' and OS/2's bitmaps, after Microsoft's "Bitmap Storage".
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_BMP_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_BMP_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

bool LooksLikeBmp(std::string_view bytes);

// The whole image, whatever part is chosen: 1, 4 and 8 bits, also run-length encoded, as palette indices; 16, 24 and
// 32 bits as colour, with alpha where the header has a mask for it. Fields of fewer than 8 bits are scaled to 0 … 255
// and rounded down, as by Pillow. kData if the bytes are not a whole BMP, or a JPEG or PNG within one; kClosed if
// StopSignal is raised.
absl::StatusOr<DecodedPart> DecodeBmp(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_BMP_H_
