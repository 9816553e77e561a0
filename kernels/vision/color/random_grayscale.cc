#include "kernels/vision/color/color_steps.h"

namespace headrace {
namespace {

// A saturation of 0 leaves the luma.
class RandomGrayscale : public ColorKernel {
 public:
  explicit RandomGrayscale(const ir::Attributes& attributes) : ColorKernel(attributes, SaturationStep(), 0) {}
};

const KernelRegistration random_grayscale_registration{
    InSomeRows(ColorDeclaration("Grayscale", "",
                                "The three channels become the luma of Grayscale; an image of one "
                                "channel stays as it is."),
               "RandomGrayscale", "0.1"),
    Makes<RandomGrayscale>()};

}  // namespace
}  // namespace headrace
