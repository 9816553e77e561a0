// The steps that change brightness, contrast, saturation and hue of uint8 images, of one channel or of red, green,
// blue: torchvision's definitions, with Pillow's arithmetic. `factor` is given for each picture (PixelFacts). Thread
// contract: the steps are constants.
#ifndef HEADRACE_KERNELS_VISION_COLOR_STEPS_H_
#define HEADRACE_KERNELS_VISION_COLOR_STEPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/attributes.h"
#include "ir/type.h"
#include "kernels/vision/pixel_kernel.h"

namespace headrace {

// Blends with black.
const PixelStep& BrightnessStep();
// Blends with the mean of the picture's luma, rounded.
const PixelStep& ContrastStep();
// Blends each pixel with its luma.
const PixelStep& SaturationStep();
// Turns the hue by `factor` of the circle, -0.5 … 0.5.
const PixelStep& HueStep();

// For a kernel of one of these steps, whose attribute `factor` it is given.
class ColorKernel : public ImagePixelKernel {
 public:
  ColorKernel(const ir::Attributes& attributes, const PixelStep& step)
      : factor_(attributes.Float("factor")), step_(step) {}
  void AddTo(PixelSteps& steps, RowRandom&) const override { steps.Add(step_, factor_); }

 private:
  double factor_;
  const PixelStep& step_;
};

// uint8 of 1 or 3 channels gives the same.
absl::StatusOr<std::vector<ir::ColumnType>> InferColor(const ir::Attributes& attributes,
                                                       absl::Span<const ir::ColumnType> inputs);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_COLOR_STEPS_H_
