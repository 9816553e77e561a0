// `BrightnessStep`, `ContrastStep`, `SaturationStep` and `HueStep` change images of one channel or of red, green, blue:
// torchvision's definitions, for uint8 with Pillow's arithmetic, for floats with that of its tensors. `factor` is given
// for each image (PixelFacts).
// Threads: the steps are constants.
#ifndef HEADRACE_KERNELS_VISION_COLOR_COLOR_STEPS_H_
#define HEADRACE_KERNELS_VISION_COLOR_COLOR_STEPS_H_

#include "kernels/vision/color/color_kernel.h"

namespace headrace {

// Blends with black.
const PixelStep& BrightnessStep();
// Blends with the mean of the image's luma, for uint8 rounded.
const PixelStep& ContrastStep();
// Blends each pixel with its luma.
const PixelStep& SaturationStep();
// Turns the hue by `factor` of the circle, -0.5 … 0.5.
const PixelStep& HueStep();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_COLOR_COLOR_STEPS_H_
