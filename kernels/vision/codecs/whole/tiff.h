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
// reads: grey and RGB of 1 to 16 bits, palettes of 1 to 8, CMYK of 8 or 16, which becomes RGB as in a JPEG, YCbCr and
// CIE L*a*b* of 8, which become RGB as libtiff converts them. Grey of fewer than 8 bits is scaled to 0 … 255, and 9 to
// 15 bits to 0 … 65535. A sample that the file declares as alpha is kept, and the colours that were multiplied by it
// are divided by it, as by Pillow; other additional samples are left out.
// PixelMode::kUnchanged gives all samples instead, in any number, as they are: 9 to 16 bits as uint16, L*a*b* with 128
// more in a* and b*. It and kAnyDepth alone give signed numbers, floats, and whole ones of 32 and 64 bits.
// kData if the bytes are not a whole TIFF, or one of another kind, or if what its strips and tiles unpack to is more
// than an image of max_pixels; kClosed if StopSignal is raised, kResource when out of memory, kUnsupported,
// as an error of no row, where libtiff is missing.
absl::StatusOr<DecodedPart> DecodeTiff(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_H_
