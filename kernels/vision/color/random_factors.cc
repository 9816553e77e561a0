#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "ir/graph.pb.h"
#include "ir/value.h"
#include "kernels/kernel.h"
#include "kernels/vision/color/color_steps.h"
#include "kernels/vision/image/resized_crop_box.h"

namespace headrace {
namespace {

// The least and the greatest factor.
constexpr const char* kDegrees = "degrees";

template <typename OfFactors>
absl::StatusOr<std::unique_ptr<Kernel>> MakeRandomFactors(const ir::Attributes& attributes) {
  HEADRACE_ASSIGN_OR_RETURN(const Interval factors, Interval::Of(attributes, kDegrees));
  return std::make_unique<OfFactors>(factors);
}

double DrawnRandomFactors(Interval factors, RowRandom& random) { return random.Uniform(factors.low, factors.high); }

class RandomColor : public ImagePixelKernel {
 public:
  explicit RandomColor(Interval factors) : factors_(factors) {}
  void AddTo(PixelSteps& steps, RowRandom& random) const override {
    steps.Add(SaturationStep(), DrawnRandomFactors(factors_, random));
  }

 private:
  Interval factors_;
};

class RandomSharpness : public UnaryKernel {
 public:
  explicit RandomSharpness(Interval factors) : factors_(factors) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    ir::Attributes attributes;
    attributes.Set("factor", ir::FloatValue(DrawnRandomFactors(factors_, context.random())));
    HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Kernel> fixed, MakeKernel("AdjustSharpness", attributes));
    HEADRACE_ASSIGN_OR_RETURN(Tensors outputs, fixed->Apply({&input, 1}, context));
    return std::move(outputs[0]);
  }

 private:
  Interval factors_;
};

// Of a kernel that does what `fixed` does. `none`: what a factor of 0 leaves; `what`: of which 2 is twice as much.
ir::Declaration DeclaredRandomFactors(const std::string& name, std::string_view fixed, std::string_view none,
                                      std::string_view what) {
  ir::Declaration declaration = ColorDeclaration(
      name, Cat("Raises or lowers ", what, " of an image by a random factor."),
      Cat("It is ", fixed, " with a factor of its own for each image, uniform in `degrees`: MindSpore's ", name, "."));
  declaration.doc.insert(declaration.doc.size() - 1, "; an interval that ends before it begins");
  declaration.attributes = {
      {.name = kDegrees,
       .type = ir::AttributeType::kFloats,
       .doc = Cat("The least and the greatest factor; 0: ", none, "; 1: unchanged; 2: twice ", what, "."),
       .default_value = "(0.1, 1.9)",
       .minimum = 0,
       .maximum = 1e6,
       .lengths = {2}}};
  declaration.traits.random = true;
  declaration.example = Cat("V.", name, "((0.5, 1.5))");
  return declaration;
}

ir::Declaration DeclaredSharpness() {
  ir::Declaration declaration = DeclaredRandomFactors("RandomSharpness", "AdjustSharpness", "smooth", "the sharpness");
  // It looks at neighbours.
  declaration.traits.per_pixel = false;
  declaration.traits.leaves_places = true;
  declaration.takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; };
  return declaration;
}

const KernelRegistration color{DeclaredRandomFactors("RandomColor", "AdjustSaturation", "grey", "the saturation"),
                               MakeRandomFactors<RandomColor>};
const KernelRegistration sharpness{DeclaredSharpness(), MakeRandomFactors<RandomSharpness>};

}  // namespace
}  // namespace headrace
