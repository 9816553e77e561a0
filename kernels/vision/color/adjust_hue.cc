#include "kernels/vision/color/color_steps.h"

namespace headrace {
namespace {

class AdjustHue : public ColorKernel {
 public:
  explicit AdjustHue(const ir::Attributes& attributes)
      : ColorKernel(attributes, HueStep(), attributes.Float("factor")) {}
};

const KernelRegistration adjust_hue_registration{
    {.name = "AdjustHue",
     .summary = "Turns the hue of an image.",
     .doc = "Takes uint8, or float32 of 0 … 1, of shape (H, W, 3), in the order red, green, blue, or (H, W, 1) or (H, "
            "W), and "
            "gives the same type and shape. Pixels of uint8 are converted to HSV of bytes, their hue is moved by "
            "factor * 255 "
            "modulo 256, and they are converted back: torchvision's adjust_hue of a Pillow image, bit for bit. HSV of "
            "bytes loses "
            "some precision, even where `factor` is 0. Floats keep theirs, as in its tensors. An image of one channel "
            "stays as it "
            "is.\n"
            "Errors: another dtype, rank or number of channels; floats that are not 0 … 1.",
     .attributes = {{.name = "factor",
                     .type = ir::AttributeType::kFloat,
                     .doc = "The part of the colour circle: 0.5 and -0.5 give complementary colours.",
                     .minimum = -0.5,
                     .maximum = 0.5}},
     .traits = {.per_pixel = true},
     .python_module = "vision",
     .example = "V.AdjustHue(0.25)",
     .sample = {.attributes = {{"factor", "0.25"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferColor},
    Makes<AdjustHue>()};

}  // namespace
}  // namespace headrace
