// `DecodeTiff` decodes TIFF with libtiff.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

bool LooksLikeTiff(std::string_view bytes);

// The first image of the file, whole, whatever part is chosen, in strips or tiles, with any compression that libtiff
// reads: grey of 1, 2, 4, 8 or 16 bits, palettes of 1, 2, 4 or 8, colour of 8 or 16, CMYK of 8, which becomes colour as
// in a JPEG, and YCbCr that is compressed as JPEG. Fewer than 8 bits of grey are scaled to 0 … 255. A sample that the
// file declares as alpha is kept as it stands, and other additional ones are left out. kData if the bytes are not a
// whole TIFF, or one of another kind; kClosed if StopSignal is raised, kResource when out of memory.
absl::StatusOr<DecodedPart> DecodeTiff(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_H_
