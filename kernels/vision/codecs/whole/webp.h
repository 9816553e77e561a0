// `DecodeWebp` decodes WebP with libwebp.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_WEBP_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_WEBP_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

bool LooksLikeWebp(std::string_view bytes);

// The whole image, whatever part is chosen, lossy or lossless: colour, 3 channels, or with alpha 4. Of an animation the
// first frame on its canvas. kData if the bytes are not a whole WebP; kResource when out of memory.
absl::StatusOr<DecodedPart> DecodeWebp(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_WEBP_H_
