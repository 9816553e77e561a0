// `EncodeJpeg` encodes JPEG with libjpeg-turbo as OpenCV's imencode does: baseline, YCbCr with the chroma halved along
// both axes (4:2:0) or grey, the accurate integer DCT, the standard Huffman tables. So bytes equal those of imencode
// wherever it is built with a libjpeg-turbo of the same arithmetic. libjpeg's memory lives for one call.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_JPEG_ENCODER_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_JPEG_ENCODER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/vision/codecs/encodable_image.h"
#include "kernels/vision/codecs/growing_bytes.h"
#include "kernels/vision/image/image.h"

namespace headrace {

// What EncodeJpeg takes.
inline constexpr int64_t kJpegChannelCounts[] = {1, 3};
inline constexpr EncodableChannels kJpegChannels = {kJpegChannelCounts, "1 or 3"};

// Appends the JPEG to `out`. The image is uint8 of 1 or 3 channels, red first. Quality is 1 to 100, as libjpeg counts.
// kData: a side of more than 65,500 pixels. kClosed if StopSignal is raised, kResource when out of memory.
absl::Status EncodeJpeg(const Image& image, int quality, GrowingBytes& out);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_JPEG_ENCODER_H_
