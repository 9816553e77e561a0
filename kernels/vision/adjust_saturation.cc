#include "kernels/vision/color_steps.h"

namespace headrace {
namespace {

class AdjustSaturation : public ColorKernel {
 public:
  explicit AdjustSaturation(const ir::Attributes& attributes)
      : ColorKernel(attributes, SaturationStep(), attributes.Float("factor")) {}
};

const KernelRegistration registration{
    {.name = "AdjustSaturation",
     .summary = "Raises or lowers the saturation of an image.",
     .doc = "Takes uint8 of shape (H, W, 3), in the order red, green, blue, or (H, W, 1) or (H, W), and gives the same "
            "type and "
            "shape. Each value becomes gray + factor * (value - gray), cut off at 0 and 255 and truncated, where "
            "`gray` is "
            "that of Grayscale at the pixel: torchvision's adjust_saturation of a Pillow image, bit for bit (Pillow's "
            "ImageEnhance.Color). An image of one channel stays as it is.\n"
            "Errors: another dtype, rank or number of channels.",
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
