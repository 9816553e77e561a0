#include <memory>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/geometry/resize.h"
#include "kernels/vision/geometry/resize_taps.h"
#include "kernels/vision/image/resized_crop_box.h"
#include "kernels/vision/image/size_attribute.h"

namespace headrace {
namespace {

class RandomResizedCrop : public GeometricKernel {
 public:
  RandomResizedCrop(std::vector<int64_t> size, Interval scale, Interval ratio, Resizing resizing)
      : size_(std::move(size)), scale_(scale), ratio_(ratio), resizing_(resizing) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const Interval scale, Interval::Of(attributes, "scale"));
    HEADRACE_ASSIGN_OR_RETURN(const Interval ratio, Interval::Of(attributes, "ratio"));
    return std::make_unique<RandomResizedCrop>(attributes.Ints("size"), scale, ratio, Resizing::Of(attributes));
  }

  PixelTypes accepted() const override { return resizing_.accepted(); }
  absl::Status Plan(RowRandom& random, MovePlan& plan) const override {
    const CropBox box = DrawResizedCropBox(plan.height(), plan.width(), scale_, ratio_, random);
    plan.Cut({box.top, box.left, box.height, box.width}, Border::kConstant, {});
    plan.Resize(size_[0], size_[1], resizing_);
    return absl::OkStatus();
  }

 private:
  std::vector<int64_t> size_;
  Interval scale_;
  Interval ratio_;
  Resizing resizing_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferRandomResizedCrop(const ir::Attributes& attributes,
                                                                   absl::Span<const ir::ColumnType> inputs) {
  return InferOfSize(attributes, inputs, Resizing::Of(attributes).accepted());
}

const MovingRegistration random_resized_crop_registration{
    {.name = "RandomResizedCrop",
     .summary = "Cuts a random rectangle out of an image and resizes it.",
     .doc = "Takes uint8, uint16 or float32 of shape (H, W, C) or (H, W) and gives the same "
            "dtype with the height and width of `size`; values stay in the units of the input. The rectangle is drawn "
            "as torchvision's RandomResizedCrop "
            "draws it: its area's share uniform in `scale`, its ratio log-uniform in `ratio`, its position uniform; "
            "after ten that do not fit, the largest rectangle of an allowed ratio in the middle. Resizing is "
            "Resize's.\n"
            "Errors: another dtype or rank, an image without pixels, and an interval that ends before it begins.",
     .attributes = {SizeAttribute("(height, width) of the result, or one number for a square."),
                    {.name = "scale",
                     .type = ir::AttributeType::kFloats,
                     .doc = "The least and the greatest share of the image's area.",
                     .default_value = "(0.08, 1.0)",
                     .minimum = 0,
                     .exclusive_minimum = true,
                     .lengths = {2}},
                    {.name = "ratio",
                     .type = ir::AttributeType::kFloats,
                     .doc = "The least and the greatest width over height.",
                     .default_value = "(0.75, 1.3333333333333333)",
                     .minimum = 0,
                     .exclusive_minimum = true,
                     .lengths = {2}},
                    InterpolationAttribute(),
                    AntialiasAttribute()},
     .traits = {.random = true, .geometric = true},
     .python_module = "vision",
     .example = "V.RandomResizedCrop(224, antialias=False)",
     .sample = {.attributes = {{"size", "20"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferRandomResizedCrop,
     .companions = {{ir::CompanionRole::kDraws, "RandomResizedCropTaps"}},
     .on_device = ResizesByTaps()},
    RandomResizedCrop::Make};
const TapsRegistration random_resized_crop_taps_registration{"RandomResizedCrop"};

}  // namespace
}  // namespace headrace
