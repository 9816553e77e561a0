// `TurnHue` turns the hue of pixels on Pillow's HSV of bytes: to HSV, the hue plus a number modulo 256, and back, each
// rounded as Pillow's convert does.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_TURN_HUE_H_
#define HEADRACE_KERNELS_VISION_PIXELS_TURN_HUE_H_

#include <cstdint>

namespace headrace {

// Pixels of red, green, blue. The same bits on every CPU.
void TurnHue(const uint8_t* rgb, int64_t pixels, uint8_t turn, uint8_t* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_TURN_HUE_H_
