#include "kernels/vision/table_steps.h"

namespace headrace {
namespace {

class AutoContrast : public ColorKernel {
 public:
  explicit AutoContrast(const ir::Attributes& attributes)
      : ColorKernel(attributes, step_), step_(attributes.Float("cutoff"), attributes.Ints("ignore")) {}

 private:
  AutoContrastStep step_;
};

ir::Declaration Declared() {
  ir::Declaration declaration = ColorDeclaration("AutoContrast", "Stretches the values of an image to 0 … 255.",
                                                 "Each channel is stretched so that its least value becomes 0 and its "
                                                 "greatest 255: Pillow's ImageOps.autocontrast, "
                                                 "bit for bit. A channel of one value stays as it is.");
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
                             .maximum = 255}};
  return declaration;
}

const KernelRegistration plain{Declared(), Makes<AutoContrast>()};
const KernelRegistration random{InSomeRows(Declared(), "RandomAutocontrast"), Makes<AutoContrast>()};

}  // namespace
}  // namespace headrace
