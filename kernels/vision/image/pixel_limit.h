// `CheckPixelLimit` refuses images above a number of pixels, from their header, before memory is allocated.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_PIXEL_LIMIT_H_
#define HEADRACE_KERNELS_VISION_IMAGE_PIXEL_LIMIT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "core/error.h"

namespace headrace {

// Pillow's limit: twice the number of 24-bit pixels in a quarter of a gigabyte.
inline constexpr int64_t kDefaultMaxPixels = 178956970;

inline absl::Status CheckPixelLimit(int64_t width, int64_t height, int64_t max_pixels) {
  if (max_pixels < 0 || width * height <= max_pixels) return absl::OkStatus();
  return DataError("the image has ", width, " × ", height, " = ", width * height,
                   " pixels, more than max_pixels = ", max_pixels,
                   "; if that is meant, raise it: Decode(max_pixels=", width * height, ")");
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_PIXEL_LIMIT_H_
