// `EncodePng` encodes PNG with libpng as OpenCV's imencode does: 8 or 16 bits, not interlaced, with its choice of
// filters and of zlib's strategy. So bytes equal those of imencode wherever it is built with the same libpng and zlib.
// libpng's memory lives for one call.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_PNG_PNG_ENCODER_H_
#define HEADRACE_KERNELS_VISION_CODECS_PNG_PNG_ENCODER_H_

#include <optional>

#include "absl/status/status.h"
#include "kernels/vision/codecs/growing_bytes.h"
#include "kernels/vision/image/image.h"

namespace headrace {

// Appends the PNG to `out`. The image is uint8 or uint16 of 1 channel, 3 (red first) or 4 (alpha last). `compression`
// is zlib's level, 0 to 9, with libpng's filters; without it the fast settings are used: level 1, the filter "sub", and
// runs alone. kData: a side of more than 1,000,000 pixels. kClosed if StopSignal is raised, kResource if memory is
// lacking.
absl::Status EncodePng(const Image& image, std::optional<int> compression, GrowingBytes& out);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_PNG_PNG_ENCODER_H_
