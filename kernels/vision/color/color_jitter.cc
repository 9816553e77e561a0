#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/vision/color/color_steps.h"
#include "kernels/vision/image/resized_crop_box.h"

namespace headrace {
namespace {

// The parts in the order of the attributes, which is that of their draws.
enum ColorJitterPart { kBrightness, kContrast, kSaturation, kHue, kParts };
constexpr const char* kNames[kParts] = {"brightness", "contrast", "saturation", "hue"};

const PixelStep& StepOf(int part) {
  switch (part) {
    case kBrightness:
      return BrightnessStep();
    case kContrast:
      return ContrastStep();
    case kSaturation:
      return SaturationStep();
    default:
      return HueStep();
  }
}

// One number is how far a factor may be from the one that changes nothing.
absl::StatusOr<Interval> FactorsOf(const ir::Attributes& attributes, int part) {
  const std::string name = kNames[part];
  const std::vector<double> given = attributes.Floats(name);
  const bool hue = part == kHue;
  if (given.size() == 1) {
    if (given[0] < 0)
      return GraphError(name, " = ", given[0], " is below 0; give (least, most) for factors of one sign");
    if (hue) return Interval{-given[0], given[0]};
    return Interval{std::max(0.0, 1 - given[0]), 1 + given[0]};
  }
  if (!hue && given[0] < 0) return GraphError(name, " begins at ", given[0], "; factors are at least 0");
  return Interval::Of(attributes, name);
}

using ColorJitterFactors = std::array<Interval, kParts>;

absl::StatusOr<ColorJitterFactors> AllFactorsOf(const ir::Attributes& attributes) {
  ColorJitterFactors factors;
  for (int part = 0; part < kParts; ++part) {
    HEADRACE_ASSIGN_OR_RETURN(factors[part], FactorsOf(attributes, part));
  }
  return factors;
}

bool ChangesNothing(int part, Interval factors) {
  const double neutral = part == kHue ? 0 : 1;
  return factors.low == neutral && factors.high == neutral;
}

class ColorJitter : public ImagePixelKernel {
 public:
  explicit ColorJitter(const ColorJitterFactors& factors) : factors_(factors) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const ColorJitterFactors factors, AllFactorsOf(attributes));
    return std::make_unique<ColorJitter>(factors);
  }

  // Draws the same numbers whatever the attributes are.
  void AddTo(PixelSteps& steps, RowRandom& random) const override {
    std::array<double, kParts> drawn;
    for (int part = 0; part < kParts; ++part) drawn[part] = random.Uniform(factors_[part].low, factors_[part].high);
    std::array<int, kParts> order = {kBrightness, kContrast, kSaturation, kHue};
    for (int left = kParts; left > 1; --left) std::swap(order[left - 1], order[random.Below(left)]);
    for (const int part : order) {
      if (ChangesNothing(part, factors_[part])) {
        steps.Require(StepOf(part));
      } else {
        steps.Add(StepOf(part), drawn[part]);
      }
    }
  }

 private:
  ColorJitterFactors factors_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferColorJitter(const ir::Attributes& attributes,
                                                             absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(AllFactorsOf(attributes).status());
  return InferColor(attributes, inputs);
}

ir::Attribute FactorAttribute(int part, std::string doc) {
  return {.name = kNames[part],
          .type = ir::AttributeType::kFloats,
          .doc = std::move(doc),
          .default_value = "0.0",
          .minimum = part == kHue ? -0.5 : 0.0,
          .maximum = part == kHue ? 0.5 : 1e6,
          .lengths = {1, 2}};
}

std::string FactorDoc(std::string_view adjusts) {
  return Cat("x: factors of ", adjusts, " from max(0, 1 - x) to 1 + x; or (least, most).");
}

const KernelRegistration color_jitter_registration{
    {.name = "ColorJitter",
     .summary = "Changes brightness, contrast, saturation and hue at random.",
     .doc = "Takes uint8 of shape (H, W, 3), in the order red, green, blue, or (H, W, 1) or (H, W), and gives the same "
            "type and shape. AdjustBrightness, AdjustContrast, AdjustSaturation and AdjustHue are applied in a random "
            "order, each with a factor drawn uniformly: torchvision's ColorJitter of Pillow images. One whose factor "
            "can only be the one that changes nothing is left out.\n"
            "Errors: another dtype, rank or number of channels; a negative number; an interval that ends before it "
            "begins.",
     .attributes = {FactorAttribute(kBrightness, FactorDoc("AdjustBrightness")),
                    FactorAttribute(kContrast, FactorDoc("AdjustContrast")),
                    FactorAttribute(kSaturation, FactorDoc("AdjustSaturation")),
                    FactorAttribute(kHue, "x: factors of AdjustHue from -x to x; or (least, most).")},
     .traits = {.random = true, .per_pixel = true},
     .python_module = "vision",
     .example = "V.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1)",
     .sample = {.attributes = {{"brightness", "0.4"}, {"contrast", "0.4"}, {"saturation", "0.4"}, {"hue", "0.1"}},
                .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferColorJitter},
    ColorJitter::Make};

}  // namespace
}  // namespace headrace
