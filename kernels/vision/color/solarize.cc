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

const KernelRegistration solarize_registration{DeclaredSolarize(), Makes<Solarize>()};
const KernelRegistration random_solarize_registration{InSomeRows(DeclaredSolarize(), "RandomSolarize"),
                                                      Makes<Solarize>()};

}  // namespace
}  // namespace headrace
