// Decodes JPEG through libjpeg-turbo with its defaults (accurate integer DCT, smooth upsampling, smoothing of blocks
// where scans are missing), so that pixels equal Pillow's. Pure functions; libjpeg's memory lives for one call. Safe
// from any thread.
#ifndef HEADRACE_KERNELS_VISION_JPEG_H_
#define HEADRACE_KERNELS_VISION_JPEG_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/vision/decode_kernel.h"
#include "kernels/vision/pixel_mode.h"

namespace headrace {

bool LooksLikeJpeg(std::string_view bytes);

// The part chosen, uint8 (H, W, C), with the pixels that decoding all of it gives; no more than that is turned into
// pixels, and all of a picture that orientation turns. With options.scale the picture is what libjpeg's scaled
// transform makes of it, of size ⌈H / scale⌉ × ⌈W / scale⌉. Baseline and progressive, Huffman and arithmetic, 8 bits;
// grey, YCbCr, RGB, CMYK and YCCK.
//
// Damage means the same whatever part is chosen, so that nobody can tell from a row how it was made:
// - Headers and tables that are wrong, a component without its first scan, data too short to hold the picture at all:
//   kData.
// - Data without their end marker are decoded whole, and kData where pixels are missing or damaged.
// - Damaged entropy-coded data of a file with its end marker: the pixels that libjpeg recovers, and `damage` names the
//   first fault among what was read. A part may end above the damage, and then has the same pixels and no `damage`.
// The work is bounded by the bytes (kBlocksPerByte in jpeg.cc). kClosed where StopSignal is raised, kResource where
// memory is lacking.
absl::StatusOr<DecodedPart> DecodeJpeg(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose,
                                       std::string& damage);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_JPEG_H_
