#include <algorithm>

#include "kernels/vision/color/color_kernel.h"
#include "kernels/vision/pixels/unit_values.h"

namespace headrace {
namespace {

// The principal components of the colours of ImageNet, in units of 0 … 255 (Krizhevsky et al., "ImageNet
// classification with deep convolutional neural networks", NIPS 2012; numbers of fb.resnet.torch).
constexpr double kEigenvalues[3] = {55.46, 4.794, 1.148};
constexpr double kEigenvectors[3][3] = {
    {-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}};

class ShiftStep : public TableStep {
 protected:
  void Fill(const PixelFacts& facts, int64_t channel, absl::Span<uint8_t> table) const override {
    for (int value = 0; value < 256; ++value) {
      table[value] = static_cast<uint8_t>(std::clamp(value + facts.channel[channel] + 0.5, 0.0, 255.0));
    }
  }
  void RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const override {
    std::array<float, 3> shifts = {};
    for (int64_t c = 0; c < row.channels; ++c) {
      shifts[c] = static_cast<float>(facts.channel[row.plane < 0 ? c : row.plane] / 255);
    }
    ShiftValues(row.floats(), row.count(), row.channels, shifts, target);
  }
};

class RandomLighting : public ImagePixelKernel {
 public:
  explicit RandomLighting(const ir::Attributes& attributes) : alpha_(attributes.Float("alpha")) {}

  void AddTo(PixelSteps& steps, RowRandom& random) const override {
    std::array<double, 3> shifts = {};
    for (int component = 0; component < 3; ++component) {
      const double amount = alpha_ * random.Normal() * kEigenvalues[component];
      for (int c = 0; c < 3; ++c) shifts[c] += kEigenvectors[c][component] * amount;
    }
    steps.Add(step_, shifts);
  }

 private:
  double alpha_;
  ShiftStep step_;
};

ir::Declaration DeclaredRandomLighting() {
  ir::Declaration declaration = ColorDeclaration(
      "RandomLighting", "Shifts the colours of an image along the principal components of natural images.",
      "Each channel is shifted by one number for the image, rounded, and cut off at 0 and 255: the sum of the "
      "eigenvectors of ImageNet's colours, each times its eigenvalue (55.46, 4.794, 1.148 in units of 0 … 255) and a "
      "normal number of deviation `alpha`: the noise of AlexNet, and MindSpore's RandomLighting. Floats are shifted by "
      "a 255th of it, not rounded, and cut off at 0 and 1.");
  declaration.attributes = {{.name = "alpha",
                             .type = ir::AttributeType::kFloat,
                             .doc = "The standard deviation of the amount of each component.",
                             .default_value = "0.05",
                             .minimum = 0,
                             .maximum = 1e6}};
  declaration.traits.random = true;
  return declaration;
}

const KernelRegistration random_lighting_registration{DeclaredRandomLighting(), Makes<RandomLighting>()};

}  // namespace
}  // namespace headrace
