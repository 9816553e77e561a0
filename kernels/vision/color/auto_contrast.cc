#include "kernels/vision/color/table_steps.h"

namespace headrace {
namespace {

class AutoContrast : public ColorKernel {
 public:
  explicit AutoContrast(const ir::Attributes& attributes)
      : ColorKernel(attributes, step_), step_(attributes.Float("cutoff"), attributes.Ints("ignore")) {}

 private:
  AutoContrastStep step_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferAutoContrast(const ir::Attributes& attributes,
                                                              absl::Span<const ir::ColumnType> inputs) {
  return InferColorOf(AutoContrastStep(attributes.Float("cutoff"), attributes.Ints("ignore")), inputs);
}

ir::Declaration DeclaredAutoContrast() {
  ir::Declaration declaration =
      ColorDeclaration("AutoContrast", "Stretches the values of an image to 0 … 255.",
                       "Each channel is stretched so that its least value becomes 0 and its "
                       "greatest 255: Pillow's ImageOps.autocontrast, "
                       "bit for bit. Floats are stretched to 0 … 1, which torchvision does to tensors; cutoff and "
                       "ignore are for uint8 alone. A channel of one value stays as it is.");
  declaration.attributes = {{.name = "cutoff",
                             .type = ir::AttributeType::kFloat,
                             .doc = "The percentage of a channel's values that is left out at each end.",
                             .default_value = "0.0",
                             .minimum = 0,
                             .maximum = 49},
                            {.name = "ignore",
                             .type = ir::AttributeType::kInts,
                             .doc = "Values that are left out, such as that of the background.",
                             .default_value = "()",
                             .minimum = 0,
                             .maximum = 255,
                             .length = ir::ListLength{0, 256}}};
  declaration.infer_kernel = InferAutoContrast;
  return declaration;
}

const KernelRegistration auto_contrast_registration{DeclaredAutoContrast(), Makes<AutoContrast>()};
const KernelRegistration random_auto_contrast_registration{InSomeRows(DeclaredAutoContrast(), "RandomAutocontrast"),
                                                           Makes<AutoContrast>()};

}  // namespace
}  // namespace headrace
