// `FillLuma` and `SumLuma` compute the lumas of many pixels of red, green, blue at once: those of Luma (pixel_mode.h).
// Pixels are split into planes, a part at a time, because compilers vectorize loops over planes alone.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_LUMA_VALUES_H_
#define HEADRACE_KERNELS_VISION_PIXELS_LUMA_VALUES_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace headrace {

void FillLuma(const uint8_t* rgb, int64_t pixels, uint8_t* luma);

// The sum of the lumas.
int64_t SumLuma(const uint8_t* rgb, int64_t pixels);

// A few pixels, and their lumas.
struct PlanesWithLuma {
  static constexpr int64_t kMost = 1024;  // 4 KiB in all, which the nearest cache holds

  int64_t pixels;
  uint8_t channels[3][kMost];
  uint8_t luma[kMost];
};
// Calls `use` for the pixels in order, the index of the first one of each call with them.
void ForPlanesWithLuma(const uint8_t* rgb, int64_t pixels,
                       absl::FunctionRef<void(int64_t first, PlanesWithLuma& planes)> use);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_LUMA_VALUES_H_
