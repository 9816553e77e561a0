// `FillLuma`, `BlendWithLuma` and `TurnHue` change pixels of red, green, blue, of 0 … 1 each, in float32: the
// definitions of torchvision's code for tensors of floats. Each operation is rounded, so that every CPU gives the same
// bits; results are within 0 … 1.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_UNIT_COLORS_H_
#define HEADRACE_KERNELS_VISION_PIXELS_UNIT_COLORS_H_

#include <cstdint>

namespace headrace {

// 0.2989 · red + 0.587 · green + 0.114 · blue.
void FillLuma(const float* rgb, int64_t pixels, float* luma);

// factor · value + (1 - factor) · luma of the pixel, cut off at 0 and 1.
void BlendWithLuma(const float* rgb, int64_t pixels, double factor, float* target);

// To hue, saturation and value, the hue plus `turn` of the circle, and back.
void TurnHue(const float* rgb, int64_t pixels, double turn, float* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_UNIT_COLORS_H_
