#include "kernels/vision/color/color_steps.h"

namespace headrace {
namespace {

class AdjustContrast : public ColorKernel {
 public:
  explicit AdjustContrast(const ir::Attributes& attributes)
      : ColorKernel(attributes, ContrastStep(), attributes.Float("factor")) {}
};

const KernelRegistration adjust_contrast_registration{
    {.name = "AdjustContrast",
     .summary = "Raises or lowers the contrast of an image.",
     .doc =
         "Takes uint8, or float32 of 0 … 1, of shape (H, W, 3), in the order red, green, blue, or (H, W, 1) or (H, W), "
         "and "
         "gives the same type and shape. Each value becomes mean + factor * (value - mean), cut off at 0 and 255, for "
         "floats at 0 and 1, where `mean` is that of Grayscale over the image. For uint8 it is rounded, and the result "
         "truncated: torchvision's adjust_contrast of a Pillow image, bit for bit (Pillow's ImageEnhance.Contrast); "
         "floats are "
         "as of its tensors.\n"
         "Errors: another dtype, rank or number of channels; floats that are not 0 … 1.",
     .attributes = {{.name = "factor",
                     .type = ir::AttributeType::kFloat,
                     .doc = "0: all grey; 1: unchanged; 2: twice the contrast.",
                     .minimum = 0,
                     .maximum = 1e6}},
     .traits = {.per_pixel = true},
     .python_module = "vision",
     .example = "V.AdjustContrast(1.5)",
     .sample = {.attributes = {{"factor", "1.5"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferColor},
    Makes<AdjustContrast>()};

}  // namespace
}  // namespace headrace
