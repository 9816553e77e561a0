// `ReadWhole` decodes images that are decoded whole, whatever part is wanted: `ImageLayout` says how a file holds its
// pixels, which are converted to what a PixelMode asks for.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_WHOLE_IMAGE_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_WHOLE_IMAGE_H_

#include <array>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/dtype.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

// Red, green, blue and alpha of each index; black and opaque where the file names no colour.
struct Palette {
  std::array<std::array<uint8_t, 4>, 256> colors;
  bool transparent = false;  // alpha means something

  Palette() { colors.fill({0, 0, 0, 255}); }
};

// How a file holds its pixels, before it is turned.
struct ImageLayout {
  int64_t height = 0;
  int64_t width = 0;
  int channels = 3;                  // grey or palette index 1, grey and alpha 2, colour 3, colour and alpha 4; any
                                     // number in PixelMode::kUnchanged
  DType dtype = DType::kUInt8;       // or uint16; any in kUnchanged, and in kAnyDepth where no channel is added
  bool multiplied = false;           // the colours by alpha, and are to be divided by it
  const Palette* palette = nullptr;  // of the indices; null: they are no indices
  int orientation = 1;               // as EXIF has it
};

// Writes all pixels of the layout, row by row without gaps.
using ReadPixels = absl::FunctionRef<absl::Status(uint8_t* pixels)>;

// Checks the limit, asks which part is wanted, and only then reads. The whole image, as DecodePng gives it.
absl::StatusOr<DecodedPart> ReadWhole(const ImageLayout& layout, const DecodeOptions& options, const ChoosePart& choose,
                                      const ReadPixels& read);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_WHOLE_IMAGE_H_
