#include <memory>
#include <vector>

#include "core/error.h"
#include "kernels/vision/augment/augmentation.h"
#include "kernels/vision/color/color_kernel.h"

namespace headrace {
namespace {

class RandAugment : public AugmentationKernel {
 public:
  explicit RandAugment(const ir::Attributes& attributes)
      : AugmentationKernel(attributes),
        operations_(attributes.Int("num_ops")),
        magnitude_(attributes.Int("magnitude")),
        bins_(attributes.Int("num_magnitude_bins")) {}

  static absl::Status Check(const ir::Attributes& attributes) {
    if (attributes.Int("magnitude") < attributes.Int("num_magnitude_bins")) return absl::OkStatus();
    return GraphError("magnitude must be less than num_magnitude_bins; they are ", attributes.Int("magnitude"), " and ",
                      attributes.Int("num_magnitude_bins"));
  }
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_RETURN_IF_ERROR(Check(attributes));
    return std::make_unique<RandAugment>(attributes);
  }

  AugmentedList Draw(int64_t height, int64_t width, RowRandom& random) const override {
    const MagnitudeSpace space = MagnitudeSpace::Usual(bins_, height, width);
    AugmentedList list;
    for (int64_t i = 0; i < operations_; ++i) {
      const auto what = static_cast<Augmentation>(random.Below(kUsualAugmentations));
      list.push_back(space.Of(what, magnitude_, random.Uniform() < 0.5));
    }
    return list;
  }

 private:
  int64_t operations_;
  int64_t magnitude_;
  int64_t bins_;
};

ir::Declaration DeclaredRandAugment() {
  ir::Declaration declaration = AugmentationDeclaration(
      "RandAugment", "Applies operations chosen at random, all with one magnitude.",
      "`num_ops` times one of 14 operations is drawn, all equally likely: none, shears, translations, rotation, "
      "brightness, colour, contrast, sharpness, posterize, solarize, autocontrast, equalize; those with a sign get it "
      "at "
      "random. torchvision's RandAugment of Pillow images (Cubuk et al., 2019).",
      {{.name = "num_ops",
        .doc = "How many operations are applied.",
        .default_value = "2",
        .minimum = 0,
        .maximum = 100},
       {.name = "magnitude", .doc = "The number of the magnitude.", .default_value = "9", .minimum = 0},
       MagnitudeBinsAttribute()});
  declaration.infer_kernel =
      [](const ir::Attributes& attributes,
         absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    HEADRACE_RETURN_IF_ERROR(RandAugment::Check(attributes));
    return InferColor(attributes, inputs);
  };
  declaration.example = "V.RandAugment(num_ops=2, magnitude=9)";
  return declaration;
}

const KernelRegistration rand_augment_registration{DeclaredRandAugment(), RandAugment::Make};

}  // namespace
}  // namespace headrace
