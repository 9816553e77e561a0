#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/image/resized_crop_box.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

class RandomZoomOut : public GeometricKernel {
 public:
  RandomZoomOut(const ir::Attributes& attributes, Interval range)
      : range_(range), probability_(attributes.Float("p")), fill_(attributes.Numbers("fill")) {}
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const Interval range, Interval::Of(attributes, "side_range"));
    return std::make_unique<RandomZoomOut>(attributes, range);
  }

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom& random, MovePlan& plan) const override {
    if (random.Uniform() >= probability_) {
      plan.Require(fill_);
      return absl::OkStatus();
    }
    const double by = random.Uniform(range_.low, range_.high);
    const auto grown = [by](int64_t side) { return static_cast<int64_t>(static_cast<double>(side) * by); };
    const int64_t height = grown(plan.height());
    const int64_t width = grown(plan.width());
    const auto part = [&random](int64_t rest) {
      return static_cast<int64_t>(static_cast<double>(rest) * random.Uniform());
    };
    const int64_t left = part(width - plan.width());
    const int64_t top = part(height - plan.height());
    plan.Cut({-top, -left, height, width}, Border::kConstant, fill_);
    return absl::OkStatus();
  }

 private:
  Interval range_;
  double probability_;
  std::vector<ir::Number> fill_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferRandomZoomOut(const ir::Attributes& attributes,
                                                               absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(Interval::Of(attributes, "side_range").status());
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  return std::vector{WithSize(type, ir::kUnknownDim, ir::kUnknownDim)};
}

const MovingRegistration random_zoom_out_registration{
    {.name = "RandomZoomOut",
     .summary = "Puts some images on a larger canvas, at random.",
     .doc =
         "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type. With probability `p` the "
         "image lies at a uniform place of a canvas whose sides are larger by one factor, drawn uniformly from "
         "`side_range`; fractions are cut off: torchvision's RandomZoomOut, from SSD.\n"
         "Errors: a fill that the type cannot hold, another rank, bytes or strings.",
     .attributes = {FillAttribute(),
                    {.name = "side_range",
                     .type = ir::AttributeType::kFloats,
                     .doc = "The least and the greatest factor of the sides.",
                     .default_value = "(1.0, 4.0)",
                     .minimum = 1,
                     .maximum = 100,
                     .lengths = {2}},
                    {.name = "p",
                     .type = ir::AttributeType::kFloat,
                     .doc = "How likely a row is changed.",
                     .default_value = "0.5",
                     .minimum = 0,
                     .maximum = 1}},
     .traits = {.random = true, .geometric = true},
     .python_module = "vision",
     .example = "V.RandomZoomOut(fill=(124, 116, 104))",
     .sample = {.attributes = {{"side_range", "(1.5, 1.5)"}, {"p", "1.0"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferRandomZoomOut},
    RandomZoomOut::Make};

}  // namespace
}  // namespace headrace
