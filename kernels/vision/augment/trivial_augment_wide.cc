#include "kernels/vision/augment/augmentation.h"

namespace headrace {
namespace {

class TrivialAugmentWide : public AugmentationKernel {
 public:
  explicit TrivialAugmentWide(const ir::Attributes& attributes)
      : AugmentationKernel(attributes), bins_(attributes.Int("num_magnitude_bins")) {}

  AugmentedList Draw(int64_t, int64_t, RowRandom& random) const override {
    const auto what = static_cast<Augmentation>(random.Below(kUsualAugmentations));
    const auto bin = static_cast<int64_t>(random.Below(static_cast<uint64_t>(bins_)));
    return {MagnitudeSpace::Wide(bins_).Of(what, bin, random.Uniform() < 0.5)};
  }

 private:
  int64_t bins_;
};

ir::Declaration DeclaredTrivialAugmentWide() {
  ir::Declaration declaration = AugmentationDeclaration(
      "TrivialAugmentWide", "Applies one operation with one magnitude, both chosen at random.",
      "One of the 14 operations of RandAugment is drawn, all equally likely, and one of its magnitudes, which reach "
      "further than there. torchvision's TrivialAugmentWide of Pillow images (Müller and Hutter, 2021).",
      {MagnitudeBinsAttribute()});
  return declaration;
}

const KernelRegistration trivial_augment_wide_registration{DeclaredTrivialAugmentWide(), Makes<TrivialAugmentWide>()};

}  // namespace
}  // namespace headrace
