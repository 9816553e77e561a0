// `DecodeJpeg` decodes JPEG with libjpeg-turbo and its defaults (accurate integer DCT, smooth upsampling, smoothing of
// blocks if scans are missing), so that pixels equal Pillow's. libjpeg's memory lives for one call.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_JPEG_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_JPEG_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/codecs/jpeg/jpeg_device.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

// Decoders that are asked before libjpeg; it decodes what they do not take.
struct JpegDecoders {
  bool own = true;  // DecodeOwnJpeg, which gives the same pixels
  // Decodes plain JPEGs (plain_jpeg.h); the grey of a colour image is then Pillow's luma of its colours. Nothing else
  // is tried before libjpeg. Null: there is none.
  JpegDevice* device = nullptr;
};

bool LooksLikeJpeg(std::string_view bytes);

// The chosen part, uint8 (H, W, C), with the pixels that decoding all of it gives. Only that part is decoded to pixels,
// except that an image turned by its orientation is decoded whole. With options.scale the image is the result of
// libjpeg's scaled transform, of size ⌈H / scale⌉ × ⌈W / scale⌉. Baseline and progressive, Huffman and arithmetic, 8
// bits; grey, YCbCr, RGB, CMYK and YCCK.
// Damage has the same effect whatever part is chosen, so that a row does not depend on how it was decoded:
// - Wrong headers or tables, a component without its first scan, data too short to hold the image at all: kData.
// - Data without an end marker are decoded whole, and kData if pixels are missing or damaged.
// - Damaged entropy-coded data of a file with its end marker: the pixels that libjpeg recovers, and `damage` names the
//   first fault in the decoded data. A part may end above the damage, and then has the same pixels and no `damage`.
// The work is bounded by the bytes (kBlocksPerByte in jpeg.cc). kClosed if StopSignal is raised, kResource if memory is
// lacking.
// Adds to WorkCounts who decoded the image.
absl::StatusOr<DecodedPart> DecodeJpeg(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose,
                                       std::string& damage, const JpegDecoders& decoders = {});

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_JPEG_H_
