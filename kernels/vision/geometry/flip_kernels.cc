#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "ir/graph.pb.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/corner_marks.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"

namespace headrace {
namespace {

// Along one axis, by the corresponding move of the plan; in some rows, if its declaration has an attribute `p`.
template <void (MovePlan::*kFlip)()>
class FlipKernel : public GeometricKernel {
 public:
  explicit FlipKernel(const ir::Attributes& attributes)
      : probability_(attributes.Find("p") ? attributes.Float("p") : 1) {}

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom& random, MovePlan& plan) const override {
    if (probability_ == 1 || random.Uniform() < probability_) (plan.*kFlip)();
    return absl::OkStatus();
  }

 private:
  double probability_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferFlipKernels(const ir::Attributes&,
                                                             absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  return std::vector{type};
}

// `in_which`: "" for all rows.
ir::Declaration DeclaredFlipKernels(const char* name, std::string_view sides, std::string_view in_which,
                                    std::string_view when) {
  ir::Declaration declaration;
  declaration.name = name;
  declaration.summary = Cat("Swaps ", sides, in_which, ".");
  declaration.doc =
      Cat("Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type and shape, "
          "mirrored",
          when, ".\nErrors: another rank, bytes or strings, and an image without pixels.");
  declaration.traits = {.geometric = true};
  declaration.python_module = "vision";
  declaration.example = Cat("V.", name, "()");
  declaration.sample = {.inputs = {ir::SampleInput::kImage}};
  declaration.infer_kernel = InferFlipKernels;
  declaration.companions = {{ir::CompanionRole::kMarks, std::string(kCornerMarks)}};
  declaration.on_device = {.work = ir::DeviceWork::kFlips};
  return declaration;
}

ir::Declaration Always(const char* name, std::string_view sides) {
  return DeclaredFlipKernels(name, sides, " of an image", "");
}

ir::Declaration InSomeRows(const char* name, std::string_view sides) {
  ir::Declaration declaration = DeclaredFlipKernels(name, sides, " in some rows, chosen at random",
                                                    Cat(" with probability `p`. Follows torchvision's ", name));
  declaration.attributes = {{.name = "p",
                             .type = ir::AttributeType::kFloat,
                             .doc = "How likely a row is flipped.",
                             .default_value = "0.5",
                             .minimum = 0,
                             .maximum = 1}};
  declaration.traits.random = true;
  declaration.example = Cat("V.", name, "(0.5)");
  declaration.sample.attributes = {{"p", "1.0"}};
  return declaration;
}

constexpr std::string_view kAcross = "right and left";
constexpr std::string_view kDown = "top and bottom";

const MovingRegistration left_right{Always("HorizontalFlip", kAcross), Makes<FlipKernel<&MovePlan::FlipLeftRight>>()};
const MovingRegistration top_bottom{Always("VerticalFlip", kDown), Makes<FlipKernel<&MovePlan::FlipTopBottom>>()};
const MovingRegistration random_left_right{InSomeRows("RandomHorizontalFlip", kAcross),
                                           Makes<FlipKernel<&MovePlan::FlipLeftRight>>()};
const MovingRegistration random_top_bottom{InSomeRows("RandomVerticalFlip", kDown),
                                           Makes<FlipKernel<&MovePlan::FlipTopBottom>>()};

}  // namespace
}  // namespace headrace
