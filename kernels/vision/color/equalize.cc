#include "kernels/vision/color/table_steps.h"

namespace headrace {
namespace {

class Equalize : public ColorKernel {
 public:
  explicit Equalize(const ir::Attributes& attributes) : ColorKernel(attributes, EqualizeStep()) {}
};

ir::Declaration DeclaredEqualize() {
  ir::Declaration declaration =
      ColorDeclaration("Equalize", "Spreads the values of an image so that they are used about equally often.",
                       "Each channel is mapped by its own cumulated histogram: Pillow's ImageOps.equalize, bit for "
                       "bit, which is not OpenCV's equalizeHist. Floats become bytes first, 255.999 * v truncated, "
                       "and their results are divided by 255, as in torchvision's tensors.");
  return declaration;
}

const KernelRegistration equalize_registration{DeclaredEqualize(), Makes<Equalize>()};
const KernelRegistration random_equalize_registration{InSomeRows(DeclaredEqualize(), "RandomEqualize"),
                                                      Makes<Equalize>()};

}  // namespace
}  // namespace headrace
