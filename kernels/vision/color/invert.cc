#include "kernels/vision/color/table_steps.h"

namespace headrace {
namespace {

class Invert : public ColorKernel {
 public:
  explicit Invert(const ir::Attributes& attributes) : ColorKernel(attributes, InvertStep()) {}
};

ir::Declaration DeclaredInvert() {
  ir::Declaration declaration =
      ColorDeclaration("Invert", "Inverts the values of an image.",
                       "Each value v becomes 255 - v: Pillow's ImageOps.invert, bit for bit; of floats 1 - v.");
  return declaration;
}

const KernelRegistration invert_registration{DeclaredInvert(), Makes<Invert>()};
const KernelRegistration random_invert_registration{InSomeRows(DeclaredInvert(), "RandomInvert"), Makes<Invert>()};

}  // namespace
}  // namespace headrace
