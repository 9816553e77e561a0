#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "kernels/vision/color/table_steps.h"

namespace headrace {
namespace {

// Knows its threshold beforehand.
class ThresholdStep : public SolarizedStep {
 public:
  explicit ThresholdStep(const ir::Attributes& attributes) : threshold_(attributes.Float("threshold")) {}

 protected:
  absl::Status CheckFloats() const override {
    if (threshold_ <= 1) return absl::OkStatus();
    return GraphError("threshold = ", threshold_, " is one of uint8, and floats are 0 … 1: give ", threshold_,
                      " / 255, or put it before ToFloat and TypeCast");
  }

 private:
  double threshold_;
};

class Solarize : public ColorKernel {
 public:
  explicit Solarize(const ir::Attributes& attributes)
      : ColorKernel(attributes, step_, attributes.Float("threshold")), step_(attributes) {}

 private:
  ThresholdStep step_;
};

// Inverts the values of a band, whose ends were drawn: parts of the way from `low` to `high`, in facts.channel.
class BandStep : public TableStep {
 public:
  BandStep(double low, double high) : low_(low), high_(high) {}

 protected:
  absl::Status CheckFloats() const override {
    if (high_ <= 1) return absl::OkStatus();
    return GraphError("upper = ", high_, " is one of uint8, and floats are 0 … 1: give ", high_,
                      " / 255, or put it before ToFloat and TypeCast");
  }
  void Fill(const PixelFacts& facts, int64_t, absl::Span<uint8_t> table) const override {
    const double first = std::floor(low_ + facts.channel[0] * (high_ - low_ + 1));
    const double last = std::floor(low_ + facts.channel[1] * (high_ - low_ + 1));
    for (int value = 0; value < 256; ++value) {
      const bool inverts = first <= value && value <= last;
      table[value] = static_cast<uint8_t>(inverts ? 255 - value : value);
    }
  }
  void RunFloats(const PixelRow& row, const PixelFacts& facts, float* target) const override {
    const auto first = static_cast<float>(low_ + facts.channel[0] * (high_ - low_));
    const auto last = static_cast<float>(low_ + facts.channel[1] * (high_ - low_));
    for (int64_t i = 0; i < row.count(); ++i) {
      const float value = row.floats()[i];
      target[i] = first <= value && value <= last ? 1 - value : value;
    }
  }

 private:
  double low_;
  double high_;
};

BandStep BandOf(const ir::Attributes& attributes) {
  const double threshold = attributes.Float("threshold");
  return {threshold, attributes.IsNone("upper") ? threshold : attributes.Float("upper")};
}

class RandomSolarize : public ImagePixelKernel {
 public:
  explicit RandomSolarize(const ir::Attributes& attributes)
      : above_(attributes),
        threshold_(attributes.Float("threshold")),
        band_(BandOf(attributes)),
        has_band_(!attributes.IsNone("upper")),
        probability_(attributes.Float("p")) {}

  void AddTo(PixelSteps& steps, RowRandom& random) const override {
    const bool applies = probability_ == 1 || random.Uniform() < probability_;
    if (!has_band_) return applies ? steps.Add(above_, threshold_) : steps.Require(above_);
    if (!applies) return steps.Require(band_);
    const double one = random.Uniform();
    const double other = random.Uniform();
    steps.Add(band_, std::array<double, 3>{std::min(one, other), std::max(one, other), 0});
  }

 private:
  ThresholdStep above_;
  double threshold_;
  BandStep band_;
  bool has_band_;
  double probability_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferRandomSolarize(const ir::Attributes& attributes,
                                                                absl::Span<const ir::ColumnType> inputs) {
  if (attributes.IsNone("upper")) return InferColorOf(ThresholdStep(attributes), inputs);
  if (attributes.Float("upper") < attributes.Float("threshold")) {
    return GraphError("upper = ", attributes.Float("upper"), " is below threshold = ", attributes.Float("threshold"));
  }
  return InferColorOf(BandOf(attributes), inputs);
}

absl::StatusOr<std::vector<ir::ColumnType>> InferSolarize(const ir::Attributes& attributes,
                                                          absl::Span<const ir::ColumnType> inputs) {
  return InferColorOf(ThresholdStep(attributes), inputs);
}

ir::Declaration DeclaredSolarize() {
  ir::Declaration declaration = ColorDeclaration(
      "Solarize", "Inverts the values of an image that reach a threshold.",
      "Each value v that is at least `threshold` becomes 255 - v: Pillow's ImageOps.solarize, bit for bit; of floats "
      "1 - v. `threshold` is in the units of the image, as in torchvision: for floats of 0 … 1 it is at most 1.");
  declaration.attributes = {{.name = "threshold",
                             .type = ir::AttributeType::kFloat,
                             .doc = "The least value that is inverted, 0 … 255 for uint8, 0 … 1 for floats.",
                             .minimum = 0,
                             .maximum = 256}};
  declaration.infer_kernel = InferSolarize;
  declaration.example = "V.Solarize(128)";
  declaration.sample.attributes = {{"threshold", "128"}};
  return declaration;
}

ir::Declaration DeclaredRandomSolarize() {
  ir::Declaration declaration = InSomeRows(DeclaredSolarize(), "RandomSolarize");
  declaration.doc.insert(declaration.doc.rfind("\nErrors:"),
                         " With `upper` a band is inverted, whose two ends, both part of it, are drawn uniformly from "
                         "threshold … upper for "
                         "each image: MindSpore's RandomSolarize.");
  ir::Attribute upper = declaration.attributes[0];
  upper.name = "upper";
  upper.doc = "The greatest value that may be inverted; None: all from the threshold on are.";
  upper.default_value = "None";
  upper.nullable = true;
  declaration.attributes.push_back(std::move(upper));
  declaration.infer_kernel = InferRandomSolarize;
  return declaration;
}

const KernelRegistration solarize_registration{DeclaredSolarize(), Makes<Solarize>()};
const KernelRegistration random_solarize_registration{DeclaredRandomSolarize(), Makes<RandomSolarize>()};

}  // namespace
}  // namespace headrace
