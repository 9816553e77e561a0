// `ReadGifPixels` decodes the LZW codes of a GIF's frame to pixels.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_GIF_CODES_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_GIF_CODES_H_

#include <gif_lib.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace headrace {

// Decodes the frame in front of which the GIF stands, in the order of the file. Its pixels have so many bits, of which
// the lower 8 are kept. kData: its codes are damaged, or end before the last pixel.
absl::Status ReadGifPixels(GifFileType* gif, int bits, absl::Span<uint8_t> pixels);

// That of giflib's code.
absl::Status GifError(int code);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_GIF_CODES_H_
