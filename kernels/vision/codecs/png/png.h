// `DecodePng` decodes PNG with libpng. libpng's memory lives for one call.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_PNG_PNG_H_
#define HEADRACE_KERNELS_VISION_CODECS_PNG_PNG_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

bool LooksLikePng(std::string_view bytes);

// The whole image, whatever part is chosen, because the rows of a PNG depend on those above: uint8 (H, W, C). All
// colour types and depths, interlaced or not; of 16 bits the higher 8 are kept; gamma and colour profiles are not
// applied. In PixelMode::kUnchanged a palette gives its indices, (H, W, 1), and there and in kAnyDepth 16 bits give
// uint16. Fails with kData if the bytes are not a whole PNG, or are too few for an image of its size; kClosed if
// StopSignal is raised, kResource when out of memory.
absl::StatusOr<DecodedPart> DecodePng(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_PNG_PNG_H_
