// Decodes JPEG through libjpeg-turbo with its defaults (accurate integer DCT, smooth upsampling), so that pixels equal
// Pillow's. Pure functions; libjpeg's memory lives for one call. Safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_JPEG_H_
#define HEADRACE_KERNELS_VISION_JPEG_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vision/picture_part.h"
#include "kernels/vision/pixel_mode.h"

namespace headrace {

bool LooksLikeJpeg(std::string_view bytes);

// The part chosen, uint8 (H, W, C), with the pixels that decoding all of it gives; no more than that is turned into
// pixels, and all of a picture that orientation turns. With options.scale the picture is what libjpeg's scaled
// transform makes of it, of size ⌈H / scale⌉ × ⌈W / scale⌉. Baseline and progressive, Huffman and arithmetic, 8 bits;
// grey, YCbCr, RGB, CMYK and YCCK. Fails with kData where the bytes are not such a picture or pixels are lost (see Warn
// in jpeg.cc); damage below the part is not noticed.
absl::StatusOr<PicturePart> DecodeJpeg(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_JPEG_H_
