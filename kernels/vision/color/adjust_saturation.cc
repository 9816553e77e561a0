#include "kernels/vision/color/color_steps.h"

namespace headrace {
namespace {

class AdjustSaturation : public ColorKernel {
 public:
  explicit AdjustSaturation(const ir::Attributes& attributes)
      : ColorKernel(attributes, SaturationStep(), attributes.Float("factor")) {}
};

const KernelRegistration adjust_saturation_registration{
    {.name = "AdjustSaturation",
     .summary = "Raises or lowers the saturation of an image.",
     .doc =
         "Takes uint8, or float32 of 0 … 1, of shape (H, W, 3), in the order red, green, blue, or (H, W, 1) or (H, W), "
         "and "
         "gives the same type and shape. Each value becomes gray + factor * (value - gray), cut off at 0 and 255, for "
         "floats at 0 and 1, where `gray` is that of Grayscale at the pixel. uint8 is truncated: torchvision's "
         "adjust_saturation of a Pillow image, bit for bit (Pillow's ImageEnhance.Color); floats are as of its "
         "tensors. An "
         "image of one channel stays as it is.\n"
         "Errors: another dtype, rank or number of channels; floats that are not 0 … 1.",
     .attributes = {{.name = "factor",
                     .type = ir::AttributeType::kFloat,
                     .doc = "0: grey; 1: unchanged; 2: twice the saturation.",
                     .minimum = 0,
                     .maximum = 1e6}},
     .traits = {.per_pixel = true},
     .python_module = "vision",
     .example = "V.AdjustSaturation(1.5)",
     .sample = {.attributes = {{"factor", "1.5"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferColor},
    Makes<AdjustSaturation>()};

}  // namespace
}  // namespace headrace
