#include <array>
#include <string>

#include "absl/types/span.h"
#include "kernels/vision/augment/augmentation.h"

namespace headrace {
namespace {

struct Chosen {
  Augmentation what;
  double probability;
  int64_t bin;
};
using SubPolicy = std::array<Chosen, 2>;

// Cubuk et al., "AutoAugment", CVPR 2019, as in torchvision.
// clang-format off
constexpr SubPolicy kImageNet[] = {
    {{{Augmentation::kPosterize, 0.4, 8}, {Augmentation::kRotate, 0.6, 9}}},
    {{{Augmentation::kSolarize, 0.6, 5}, {Augmentation::kAutoContrast, 0.6, 0}}},
    {{{Augmentation::kEqualize, 0.8, 0}, {Augmentation::kEqualize, 0.6, 0}}},
    {{{Augmentation::kPosterize, 0.6, 7}, {Augmentation::kPosterize, 0.6, 6}}},
    {{{Augmentation::kEqualize, 0.4, 0}, {Augmentation::kSolarize, 0.2, 4}}},
    {{{Augmentation::kEqualize, 0.4, 0}, {Augmentation::kRotate, 0.8, 8}}},
    {{{Augmentation::kSolarize, 0.6, 3}, {Augmentation::kEqualize, 0.6, 0}}},
    {{{Augmentation::kPosterize, 0.8, 5}, {Augmentation::kEqualize, 1, 0}}},
    {{{Augmentation::kRotate, 0.2, 3}, {Augmentation::kSolarize, 0.6, 8}}},
    {{{Augmentation::kEqualize, 0.6, 0}, {Augmentation::kPosterize, 0.4, 6}}},
    {{{Augmentation::kRotate, 0.8, 8}, {Augmentation::kColor, 0.4, 0}}},
    {{{Augmentation::kRotate, 0.4, 9}, {Augmentation::kEqualize, 0.6, 0}}},
    {{{Augmentation::kEqualize, 0, 0}, {Augmentation::kEqualize, 0.8, 0}}},
    {{{Augmentation::kInvert, 0.6, 0}, {Augmentation::kEqualize, 1, 0}}},
    {{{Augmentation::kColor, 0.6, 4}, {Augmentation::kContrast, 1, 8}}},
    {{{Augmentation::kRotate, 0.8, 8}, {Augmentation::kColor, 1, 2}}},
    {{{Augmentation::kColor, 0.8, 8}, {Augmentation::kSolarize, 0.8, 7}}},
    {{{Augmentation::kSharpness, 0.4, 7}, {Augmentation::kInvert, 0.6, 0}}},
    {{{Augmentation::kShearX, 0.6, 5}, {Augmentation::kEqualize, 1, 0}}},
    {{{Augmentation::kColor, 0.4, 0}, {Augmentation::kEqualize, 0.6, 0}}},
    {{{Augmentation::kEqualize, 0.4, 0}, {Augmentation::kSolarize, 0.2, 4}}},
    {{{Augmentation::kSolarize, 0.6, 5}, {Augmentation::kAutoContrast, 0.6, 0}}},
    {{{Augmentation::kInvert, 0.6, 0}, {Augmentation::kEqualize, 1, 0}}},
    {{{Augmentation::kColor, 0.6, 4}, {Augmentation::kContrast, 1, 8}}},
    {{{Augmentation::kEqualize, 0.8, 0}, {Augmentation::kEqualize, 0.6, 0}}},
};

constexpr SubPolicy kCifar10[] = {
    {{{Augmentation::kInvert, 0.1, 0}, {Augmentation::kContrast, 0.2, 6}}},
    {{{Augmentation::kRotate, 0.7, 2}, {Augmentation::kTranslateX, 0.3, 9}}},
    {{{Augmentation::kSharpness, 0.8, 1}, {Augmentation::kSharpness, 0.9, 3}}},
    {{{Augmentation::kShearY, 0.5, 8}, {Augmentation::kTranslateY, 0.7, 9}}},
    {{{Augmentation::kAutoContrast, 0.5, 0}, {Augmentation::kEqualize, 0.9, 0}}},
    {{{Augmentation::kShearY, 0.2, 7}, {Augmentation::kPosterize, 0.3, 7}}},
    {{{Augmentation::kColor, 0.4, 3}, {Augmentation::kBrightness, 0.6, 7}}},
    {{{Augmentation::kSharpness, 0.3, 9}, {Augmentation::kBrightness, 0.7, 9}}},
    {{{Augmentation::kEqualize, 0.6, 0}, {Augmentation::kEqualize, 0.5, 0}}},
    {{{Augmentation::kContrast, 0.6, 7}, {Augmentation::kSharpness, 0.6, 5}}},
    {{{Augmentation::kColor, 0.7, 7}, {Augmentation::kTranslateX, 0.5, 8}}},
    {{{Augmentation::kEqualize, 0.3, 0}, {Augmentation::kAutoContrast, 0.4, 0}}},
    {{{Augmentation::kTranslateY, 0.4, 3}, {Augmentation::kSharpness, 0.2, 6}}},
    {{{Augmentation::kBrightness, 0.9, 6}, {Augmentation::kColor, 0.2, 8}}},
    {{{Augmentation::kSolarize, 0.5, 2}, {Augmentation::kInvert, 0, 0}}},
    {{{Augmentation::kEqualize, 0.2, 0}, {Augmentation::kAutoContrast, 0.6, 0}}},
    {{{Augmentation::kEqualize, 0.2, 0}, {Augmentation::kEqualize, 0.6, 0}}},
    {{{Augmentation::kColor, 0.9, 9}, {Augmentation::kEqualize, 0.6, 0}}},
    {{{Augmentation::kAutoContrast, 0.8, 0}, {Augmentation::kSolarize, 0.2, 8}}},
    {{{Augmentation::kBrightness, 0.1, 3}, {Augmentation::kColor, 0.7, 0}}},
    {{{Augmentation::kSolarize, 0.4, 5}, {Augmentation::kAutoContrast, 0.9, 0}}},
    {{{Augmentation::kTranslateY, 0.9, 9}, {Augmentation::kTranslateY, 0.7, 9}}},
    {{{Augmentation::kAutoContrast, 0.9, 0}, {Augmentation::kSolarize, 0.8, 3}}},
    {{{Augmentation::kEqualize, 0.8, 0}, {Augmentation::kInvert, 0.1, 0}}},
    {{{Augmentation::kTranslateY, 0.7, 9}, {Augmentation::kAutoContrast, 0.9, 0}}},
};

constexpr SubPolicy kSvhn[] = {
    {{{Augmentation::kShearX, 0.9, 4}, {Augmentation::kInvert, 0.2, 0}}},
    {{{Augmentation::kShearY, 0.9, 8}, {Augmentation::kInvert, 0.7, 0}}},
    {{{Augmentation::kEqualize, 0.6, 0}, {Augmentation::kSolarize, 0.6, 6}}},
    {{{Augmentation::kInvert, 0.9, 0}, {Augmentation::kEqualize, 0.6, 0}}},
    {{{Augmentation::kEqualize, 0.6, 0}, {Augmentation::kRotate, 0.9, 3}}},
    {{{Augmentation::kShearX, 0.9, 4}, {Augmentation::kAutoContrast, 0.8, 0}}},
    {{{Augmentation::kShearY, 0.9, 8}, {Augmentation::kInvert, 0.4, 0}}},
    {{{Augmentation::kShearY, 0.9, 5}, {Augmentation::kSolarize, 0.2, 6}}},
    {{{Augmentation::kInvert, 0.9, 0}, {Augmentation::kAutoContrast, 0.8, 0}}},
    {{{Augmentation::kEqualize, 0.6, 0}, {Augmentation::kRotate, 0.9, 3}}},
    {{{Augmentation::kShearX, 0.9, 4}, {Augmentation::kSolarize, 0.3, 3}}},
    {{{Augmentation::kShearY, 0.8, 8}, {Augmentation::kInvert, 0.7, 0}}},
    {{{Augmentation::kEqualize, 0.9, 0}, {Augmentation::kTranslateY, 0.6, 6}}},
    {{{Augmentation::kInvert, 0.9, 0}, {Augmentation::kEqualize, 0.6, 0}}},
    {{{Augmentation::kContrast, 0.3, 3}, {Augmentation::kRotate, 0.8, 4}}},
    {{{Augmentation::kInvert, 0.8, 0}, {Augmentation::kTranslateY, 0, 2}}},
    {{{Augmentation::kShearY, 0.7, 6}, {Augmentation::kSolarize, 0.4, 8}}},
    {{{Augmentation::kInvert, 0.6, 0}, {Augmentation::kRotate, 0.8, 4}}},
    {{{Augmentation::kShearY, 0.3, 7}, {Augmentation::kTranslateX, 0.9, 3}}},
    {{{Augmentation::kShearX, 0.1, 6}, {Augmentation::kInvert, 0.6, 0}}},
    {{{Augmentation::kSolarize, 0.7, 2}, {Augmentation::kTranslateY, 0.6, 7}}},
    {{{Augmentation::kShearY, 0.8, 4}, {Augmentation::kInvert, 0.8, 0}}},
    {{{Augmentation::kShearX, 0.7, 9}, {Augmentation::kTranslateY, 0.8, 3}}},
    {{{Augmentation::kShearY, 0.8, 5}, {Augmentation::kAutoContrast, 0.7, 0}}},
    {{{Augmentation::kShearX, 0.7, 2}, {Augmentation::kInvert, 0.1, 0}}},
};
// clang-format on

constexpr int64_t kBins = 10;

absl::Span<const SubPolicy> PolicyOf(const std::string& name) {
  if (name == "cifar10") return kCifar10;
  if (name == "svhn") return kSvhn;
  return kImageNet;
}

class AutoAugment : public AugmentationKernel {
 public:
  explicit AutoAugment(const ir::Attributes& attributes)
      : AugmentationKernel(attributes), policy_(PolicyOf(attributes.String("policy"))) {}

  // Draws the same numbers whatever is chosen.
  AugmentedList Draw(int64_t height, int64_t width, RowRandom& random) const override {
    const MagnitudeSpace space = MagnitudeSpace::Usual(kBins, height, width);
    AugmentedList list;
    for (const Chosen& chosen : policy_[random.Below(policy_.size())]) {
      const bool applied = random.Uniform() < chosen.probability;
      const bool negative = random.Uniform() < 0.5;
      if (applied) list.push_back(space.Of(chosen.what, chosen.bin, negative));
    }
    return list;
  }

 private:
  absl::Span<const SubPolicy> policy_;
};

ir::Declaration DeclaredAutoAugment() {
  ir::Declaration declaration = AugmentationDeclaration(
      "AutoAugment", "Applies one of 25 pairs of operations that were learned for a data set.",
      "One of the policy's pairs is drawn, all equally likely; each of its two operations is applied with its own "
      "probability and magnitude, and those with a sign get it at random. torchvision's AutoAugment of Pillow images "
      "(Cubuk et al., 2019).",
      {{.name = "policy",
        .type = ir::AttributeType::kString,
        .doc = "The data set for which the pairs were learned.",
        .default_value = "'imagenet'",
        .choices = {"imagenet", "cifar10", "svhn"}}});
  return declaration;
}

const KernelRegistration auto_augment_registration{DeclaredAutoAugment(), Makes<AutoAugment>()};

}  // namespace
}  // namespace headrace
