#include "kernels/vision/color/color_steps.h"

namespace headrace {
namespace {

class AdjustBrightness : public ColorKernel {
 public:
  explicit AdjustBrightness(const ir::Attributes& attributes)
      : ColorKernel(attributes, BrightnessStep(), attributes.Float("factor")) {}
};

const KernelRegistration adjust_brightness_registration{
    {.name = "AdjustBrightness",
     .summary = "Makes an image brighter or darker.",
     .doc = "Takes uint8, or float32 of 0 … 1, of shape (H, W, 3), in the order red, green, blue, or (H, W, 1) or (H, "
            "W), and "
            "gives the same type and shape. Each value is multiplied by `factor` and cut off at 255, for floats at 1. "
            "uint8 is "
            "truncated: torchvision's adjust_brightness of a Pillow image, bit for bit (Pillow's "
            "ImageEnhance.Brightness); floats "
            "are as of its tensors.\n"
            "Errors: another dtype, rank or number of channels; floats that are not 0 … 1.",
     .attributes = {{.name = "factor",
                     .type = ir::AttributeType::kFloat,
                     .doc = "0: black; 1: unchanged; 2: twice as bright.",
                     .minimum = 0,
                     .maximum = 1e6}},
     .traits = {.per_pixel = true},
     .python_module = "vision",
     .example = "V.AdjustBrightness(1.5)",
     .sample = {.attributes = {{"factor", "1.5"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferColor},
    Makes<AdjustBrightness>()};

}  // namespace
}  // namespace headrace
