#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometric_kernel.h"
#include "kernels/vision/image_moves.h"
#include "kernels/vision/moving_registration.h"

namespace headrace {
namespace {

// Along one axis, by the corresponding move of the plan.
template <void (MovePlan::*kFlip)()>
class RandomFlip : public GeometricKernel {
 public:
  explicit RandomFlip(const ir::Attributes& attributes) : probability_(attributes.Float("p")) {}

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom& random, MovePlan& plan) const override {
    if (random.Uniform() < probability_) (plan.*kFlip)();
    return absl::OkStatus();
  }

 private:
  double probability_;
};

absl::StatusOr<std::vector<ir::ColumnType>> Infer(const ir::Attributes&, absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  return std::vector{type};
}

ir::Attribute ProbabilityAttribute() {
  return {.name = "p",
          .type = ir::AttributeType::kFloat,
          .doc = "How likely a row is flipped.",
          .default_value = "0.5",
          .minimum = 0,
          .maximum = 1};
}

const MovingRegistration left_right{
    {.name = "RandomHorizontalFlip",
     .summary = "Swaps right and left in some rows, chosen at random.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type and shape, mirrored with "
            "probability `p`. Follows torchvision's RandomHorizontalFlip.\n"
            "Errors: another rank, bytes or strings, and an image without pixels.",
     .attributes = {ProbabilityAttribute()},
     .traits = {.random = true, .geometric = true},
     .python_module = "vision",
     .example = "V.RandomHorizontalFlip(0.5)",
     .sample = {.attributes = {{"p", "1.0"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = Infer},
    Makes<RandomFlip<&MovePlan::FlipLeftRight>>()};

const MovingRegistration top_bottom{
    {.name = "RandomVerticalFlip",
     .summary = "Swaps top and bottom in some rows, chosen at random.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type and shape, mirrored with "
            "probability `p`. Follows torchvision's RandomVerticalFlip.\n"
            "Errors: another rank, bytes or strings, and an image without pixels.",
     .attributes = {ProbabilityAttribute()},
     .traits = {.random = true, .geometric = true},
     .python_module = "vision",
     .example = "V.RandomVerticalFlip(0.5)",
     .sample = {.attributes = {{"p", "1.0"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = Infer},
    Makes<RandomFlip<&MovePlan::FlipTopBottom>>()};

}  // namespace
}  // namespace headrace
