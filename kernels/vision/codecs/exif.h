// `ExifOrientation` reads the orientation in EXIF data, and `Oriented` turns an image, or a part of one, accordingly.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_EXIF_H_
#define HEADRACE_KERNELS_VISION_CODECS_EXIF_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/tensor.h"
#include "kernels/vision/image/window.h"

namespace headrace {

// The first bytes of a JPEG's APP1 segment with EXIF.
inline constexpr std::string_view kExifHeader{"Exif\0\0", 6};

// 1 … 8 from an EXIF block (it begins with a TIFF header); 1 if there is none or the block is damaged.
int ExifOrientation(std::string_view exif);

// Whether the orientation swaps height and width.
inline bool SwapsAxes(int orientation) { return orientation >= 5 && orientation <= 8; }

// Where the pixels of a part of the turned image are in the image of this size.
Window BeforeTurning(const Window& part, int orientation, int64_t height, int64_t width);

// The image turned and mirrored to orientation 1, as by Pillow's ImageOps.exif_transpose. `image` is row-major uint8
// (H, W, C).
absl::StatusOr<Tensor> Oriented(Tensor image, int orientation, OutputAllocator& output);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_EXIF_H_
