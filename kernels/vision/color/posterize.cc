#include "kernels/vision/color/table_steps.h"

namespace headrace {
namespace {

class Posterize : public ColorKernel {
 public:
  explicit Posterize(const ir::Attributes& attributes)
      : ColorKernel(attributes, PosterizeStep(), static_cast<double>(attributes.Int("bits"))) {}
};

ir::Declaration DeclaredPosterize() {
  ir::Declaration declaration =
      ColorDeclaration("Posterize", "Keeps the highest bits of the values of an image.",
                       "The other bits of each value become 0: Pillow's ImageOps.posterize, bit for bit. A float "
                       "becomes the greatest of the levels 0, 1 / 2 ** bits, 2 / 2 ** bits, … below 1 that it reaches, "
                       "as in torchvision's tensors.");
  declaration.attributes = {{.name = "bits", .doc = "How many bits are kept.", .minimum = 1, .maximum = 8}};
  declaration.example = "V.Posterize(4)";
  declaration.sample.attributes = {{"bits", "4"}};
  return declaration;
}

const KernelRegistration posterize_registration{DeclaredPosterize(), Makes<Posterize>()};
const KernelRegistration random_posterize_registration{InSomeRows(DeclaredPosterize(), "RandomPosterize"),
                                                       Makes<Posterize>()};

}  // namespace
}  // namespace headrace
