#include <algorithm>
#include <cmath>

#include "kernels/vision/color/color_kernel.h"
#include "kernels/vision/pixels/power_values.h"

namespace headrace {
namespace {

class GammaStep : public TableStep {
 public:
  GammaStep(double gamma, double gain) : gamma_(gamma), gain_(gain) {}

 protected:
  void Fill(const PixelFacts&, int64_t, absl::Span<uint8_t> table) const override {
    for (int value = 0; value < 256; ++value) {
      table[value] = static_cast<uint8_t>(std::min((255 + 1 - 1e-3) * gain_ * std::pow(value / 255.0, gamma_), 255.0));
    }
  }
  void RunFloats(const PixelRow& row, const PixelFacts&, float* target) const override {
    RaiseValues(row.floats(), row.count(), gamma_, gain_, target);
  }

 private:
  double gamma_;
  double gain_;
};

class AdjustGamma : public ColorKernel {
 public:
  explicit AdjustGamma(const ir::Attributes& attributes)
      : ColorKernel(attributes, step_), step_(attributes.Float("gamma"), attributes.Float("gain")) {}

 private:
  GammaStep step_;
};

ir::Declaration DeclaredAdjustGamma() {
  ir::Declaration declaration =
      ColorDeclaration("AdjustGamma", "Corrects the gamma of an image.",
                       "Each value v becomes 255.999 * gain * (v / 255) ** gamma, truncated and cut off at 255: "
                       "torchvision's adjust_gamma of a Pillow image, bit for bit. Of floats it becomes "
                       "gain * v ** gamma, cut off at 1, as of its tensors.");
  declaration.attributes = {{.name = "gamma",
                             .type = ir::AttributeType::kFloat,
                             .doc = "Above 1: shadows become darker; below 1: lighter.",
                             .minimum = 0},
                            {.name = "gain",
                             .type = ir::AttributeType::kFloat,
                             .doc = "The factor of all values.",
                             .default_value = "1.0",
                             .minimum = 0,
                             .maximum = 1e6}};
  declaration.example = "V.AdjustGamma(2.2)";
  declaration.sample.attributes = {{"gamma", "2.2"}};
  return declaration;
}

const KernelRegistration adjust_gamma_registration{DeclaredAdjustGamma(), Makes<AdjustGamma>()};

}  // namespace
}  // namespace headrace
