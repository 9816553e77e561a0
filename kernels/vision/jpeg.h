// Decodes JPEG through libjpeg-turbo with its defaults (accurate integer DCT, smooth upsampling), so that pixels equal
// Pillow's. Pure functions; libjpeg's memory lives for one call. Safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_JPEG_H_
#define HEADRACE_KERNELS_VISION_JPEG_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "kernels/vision/pixel_mode.h"

namespace headrace {

bool LooksLikeJpeg(std::string_view bytes);

// uint8 (H, W, C). Baseline and progressive, Huffman and arithmetic, 8 bits; grey, YCbCr, RGB, CMYK and YCCK.
// Fails with kData where the bytes are not such a picture or pixels are lost: see Warnings in jpeg.cc.
absl::StatusOr<Tensor> DecodeJpeg(std::string_view bytes, const DecodeOptions& options);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_JPEG_H_
