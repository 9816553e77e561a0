#include "kernels/vision/table_steps.h"

namespace headrace {
namespace {

class Solarize : public ColorKernel {
 public:
  explicit Solarize(const ir::Attributes& attributes)
      : ColorKernel(attributes, SolarizeStep(), attributes.Float("threshold")) {}
};

ir::Declaration Declared() {
  ir::Declaration declaration = ColorDeclaration(
      "Solarize", "Inverts the values of an image that reach a threshold.",
      "Each value v that is at least `threshold` becomes 255 - v: Pillow's ImageOps.solarize, bit for bit.");
  declaration.attributes = {{.name = "threshold",
                             .type = ir::AttributeType::kFloat,
                             .doc = "The least value that is inverted.",
                             .minimum = 0,
                             .maximum = 256}};
  declaration.example = "V.Solarize(128)";
  declaration.sample.attributes = {{"threshold", "128"}};
  return declaration;
}

const KernelRegistration plain{Declared(), Makes<Solarize>()};
const KernelRegistration random{InSomeRows(Declared(), "RandomSolarize"), Makes<Solarize>()};

}  // namespace
}  // namespace headrace
