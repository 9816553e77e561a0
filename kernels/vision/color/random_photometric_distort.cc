#include <memory>

#include "core/error.h"
#include "kernels/vision/color/channel_order.h"
#include "kernels/vision/color/color_steps.h"
#include "kernels/vision/image/resized_crop_box.h"

namespace headrace {
namespace {

struct RandomPhotometricDistortPart {
  const char* name;
  const PixelStep& (*step)();
  const char* factors;
  double low;
  double high;
};
constexpr RandomPhotometricDistortPart kParts[] = {{"brightness", BrightnessStep, "(0.875, 1.125)", 0, 100},
                                                   {"contrast", ContrastStep, "(0.5, 1.5)", 0, 100},
                                                   {"saturation", SaturationStep, "(0.5, 1.5)", 0, 100},
                                                   {"hue", HueStep, "(-0.05, 0.05)", -0.5, 0.5}};
enum { kBrightness, kContrast, kSaturation, kHue, kPartCount };

using RandomPhotometricDistortFactors = std::array<Interval, kPartCount>;

absl::StatusOr<RandomPhotometricDistortFactors> FactorsOf(const ir::Attributes& attributes) {
  RandomPhotometricDistortFactors factors;
  for (int part = 0; part < kPartCount; ++part) {
    HEADRACE_ASSIGN_OR_RETURN(factors[part], Interval::Of(attributes, kParts[part].name));
  }
  return factors;
}

class RandomPhotometricDistort : public ImagePixelKernel {
 public:
  RandomPhotometricDistort(const RandomPhotometricDistortFactors& factors, double probability)
      : factors_(factors), probability_(probability) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const RandomPhotometricDistortFactors factors, FactorsOf(attributes));
    return std::make_unique<RandomPhotometricDistort>(factors, attributes.Float("p"));
  }

  // Draws the same numbers whatever is applied.
  void AddTo(PixelSteps& steps, RowRandom& random) const override {
    std::array<double, kPartCount> drawn;
    std::array<bool, kPartCount> applied;
    for (int part = 0; part < kPartCount; ++part) {
      applied[part] = random.Uniform() < probability_;
      drawn[part] = random.Uniform(factors_[part].low, factors_[part].high);
    }
    const bool contrast_first = random.Uniform() < 0.5;
    const bool reorders = random.Uniform() < probability_;
    const std::array<double, 3> order = DrawChannelOrder(random);
    const auto add = [&](int part, bool here) {
      if (here && applied[part]) return steps.Add(kParts[part].step(), drawn[part]);
      steps.Require(kParts[part].step());
    };
    add(kBrightness, true);
    add(kContrast, contrast_first);
    add(kSaturation, true);
    add(kHue, true);
    add(kContrast, !contrast_first);
    if (reorders) steps.Add(ChannelOrderStep(), order);
  }

 private:
  RandomPhotometricDistortFactors factors_;
  double probability_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferRandomPhotometricDistort(const ir::Attributes& attributes,
                                                                          absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(FactorsOf(attributes).status());
  return InferColor(attributes, inputs);
}

ir::Declaration DeclaredRandomPhotometricDistort() {
  ir::Declaration declaration = ColorDeclaration(
      "RandomPhotometricDistort", "Changes brightness, contrast, saturation, hue and the order of channels at random.",
      "Each of AdjustBrightness, AdjustContrast, AdjustSaturation, AdjustHue and RandomChannelPermutation is applied "
      "with probability `p`, in this order, or with the contrast after the hue, which has chance one half: "
      "torchvision's "
      "RandomPhotometricDistort of Pillow images, from SSD.");
  declaration.traits.random = true;
  for (const RandomPhotometricDistortPart& part : kParts) {
    declaration.attributes.push_back({.name = part.name,
                                      .type = ir::AttributeType::kFloats,
                                      .doc = Cat("The least and the greatest factor of ", part.name, "."),
                                      .default_value = part.factors,
                                      .minimum = part.low,
                                      .maximum = part.high,
                                      .lengths = {2}});
  }
  declaration.attributes.push_back({.name = "p",
                                    .type = ir::AttributeType::kFloat,
                                    .doc = "How likely each of them is applied.",
                                    .default_value = "0.5",
                                    .minimum = 0,
                                    .maximum = 1});
  declaration.sample.attributes = {{"p", "1.0"}};
  declaration.infer_kernel = InferRandomPhotometricDistort;
  return declaration;
}

const KernelRegistration random_photometric_distort_registration{DeclaredRandomPhotometricDistort(),
                                                                 RandomPhotometricDistort::Make};

}  // namespace
}  // namespace headrace
