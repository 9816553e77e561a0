// `BlendWithValue` and its neighbours blend bytes with another image as Pillow's Image.blend: other + factor · (value -
// other) in float32, cut off at 0 and 255 and truncated.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_BLEND_VALUES_H_
#define HEADRACE_KERNELS_VISION_PIXELS_BLEND_VALUES_H_

#include <cstdint>

namespace headrace {

// With an image of one value.
void BlendWithValue(const uint8_t* source, int64_t count, uint8_t other, float factor, uint8_t* target);

// Pixels of red, green, blue, with their luma (pixel_mode.h).
void BlendWithLuma(const uint8_t* rgb, int64_t pixels, float factor, uint8_t* target);

// The middle one of three rows of `count` values, with its smoothing by Pillow's SMOOTH: (sum of the 3 × 3 neighbours +
// 4 · value) / 13, rounded, where neighbours are `channels` values apart. The first and the last pixel stay as they
// are.
void BlendWithSmooth(const uint8_t* above, const uint8_t* row, const uint8_t* below, int64_t count, int64_t channels,
                     float factor, uint8_t* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_BLEND_VALUES_H_
