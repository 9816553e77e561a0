#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/geometry/resize.h"
#include "kernels/vision/geometry/size_rule.h"
#include "kernels/vision/image/image_size.h"
#include "kernels/vision/image/size_attribute.h"

namespace headrace {
namespace {

ImageSize SizeTimes(ImageSize image, const std::vector<double>& factors) {
  return {WholeSide(factors[0] * static_cast<double>(image.height)),
          WholeSide(factors[1] * static_cast<double>(image.width))};
}

class ResizeByFactor : public GeometricKernel {
 public:
  explicit ResizeByFactor(const ir::Attributes& attributes)
      : factors_(attributes.Floats("factor")), resizing_(Resizing::Of(attributes)) {}

  PixelTypes accepted() const override { return resizing_.accepted(); }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    const ImageSize size = SizeTimes({plan.height(), plan.width()}, factors_);
    if (std::max(size.height, size.width) > kMostSide) {
      return DataError("an image of height ", plan.height(), " and width ", plan.width(),
                       " would be resized to a side of ", std::max(size.height, size.width),
                       " pixels, and 65535 is the most; give a smaller factor");
    }
    plan.Resize(size.height, size.width, resizing_);
    return absl::OkStatus();
  }

 private:
  std::vector<double> factors_;
  Resizing resizing_;
};

ImageSize TimesFactor(const ir::Attributes& attributes, ImageSize image) {
  return SizeTimes(image, attributes.Floats("factor"));
}

const MovingRegistration resize_by_factor_registration{
    {.name = "ResizeByFactor",
     .summary = "Resizes an image by a factor of its own size.",
     .doc = "Takes uint8, uint16 or float32 of shape (H, W, C) or (H, W) and gives the same dtype with another height "
            "and width; values stay in the units of the input. Each side is multiplied by its factor in float64, and "
            "the fraction cut off, as int(factor * side) of Python does; it is at least 1. Pixels are those of "
            "Resize.\n"
            "Errors: another dtype or rank, an image without pixels; of the row, a side that would exceed 65,535.",
     .attributes = {{.name = "factor",
                     .type = ir::AttributeType::kFloats,
                     .doc = "(of the height, of the width), or one number for both; 0.5 halves the sides.",
                     .in_words = "a number or (of the height, of the width)",
                     .minimum = 0,
                     .maximum = kMostSide,
                     .exclusive_minimum = true,
                     .lengths = {2},
                     .broadcast = true},
                    InterpolationAttribute(),
                    AntialiasAttribute()},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.ResizeByFactor(0.5)",
     .sample = {.attributes = {{"factor", "0.4"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferBy(TimesFactor),
     .is_kernel_identity = KeepsSizeBy(TimesFactor)},
    Makes<ResizeByFactor>()};

}  // namespace
}  // namespace headrace
