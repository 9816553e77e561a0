// `DecodePnm` decodes PNM: the portable bitmaps, greymaps and pixmaps of Netpbm, P1 to P6.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_PNM_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_PNM_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

bool LooksLikePnm(std::string_view bytes);

// The first image, whole, whatever part is chosen: grey, or colour, 0 … the greatest value that the header names scaled
// to 0 … 255, or to 0 … 65535 where it is more than 255, and rounded, as by Pillow. kData if the bytes are not a whole
// PNM; kClosed if StopSignal is raised.
absl::StatusOr<DecodedPart> DecodePnm(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_PNM_H_
