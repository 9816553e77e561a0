#include <algorithm>
#include <cmath>
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

// In the order of timm's operations, in float64, so that halves are halves.
ImageSize SizeOfRatio(ImageSize image, const std::vector<int64_t>& size, bool covers) {
  const auto height = static_cast<double>(image.height);
  const auto width = static_cast<double>(image.width);
  const double by_height = height / static_cast<double>(size[0]);
  const double by_width = width / static_cast<double>(size[1]);
  const double ratio = covers ? std::min(by_height, by_width) : std::max(by_height, by_width);
  const auto side = [ratio](double length) { return WholeSide(std::nearbyint(length / ratio)); };
  return {side(height), side(width)};
}

class ResizeKeepRatio : public GeometricKernel {
 public:
  explicit ResizeKeepRatio(const ir::Attributes& attributes)
      : size_(attributes.Ints("size")),
        covers_(attributes.String("rule") == "cover"),
        resizing_(Resizing::Of(attributes)) {}

  PixelTypes accepted() const override { return resizing_.accepted(); }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    const ImageSize size = SizeOfRatio({plan.height(), plan.width()}, size_, covers_);
    if (std::max(size.height, size.width) > kMostSide) {
      return DataError("an image of height ", plan.height(), " and width ", plan.width(),
                       " is too narrow: resized, its longer side would have ", std::max(size.height, size.width),
                       " pixels, and 65535 is the most");
    }
    plan.Resize(size.height, size.width, resizing_);
    return absl::OkStatus();
  }

 private:
  std::vector<int64_t> size_;
  bool covers_;
  Resizing resizing_;
};

ImageSize RatioKept(const ir::Attributes& attributes, ImageSize image) {
  return SizeOfRatio(image, attributes.Ints("size"), attributes.String("rule") == "cover");
}

const MovingRegistration resize_keep_ratio_registration{
    {.name = "ResizeKeepRatio",
     .summary = "Resizes an image, in its ratio, so that it just fits into a size, or just covers it.",
     .doc = "Takes uint8, uint16 or float32 of shape (H, W, C) or (H, W) and gives the same dtype with another height "
            "and width; values stay in the units of the input. Both sides are divided by one number, the larger of H / "
            "size[0] and W / size[1] to fit, the smaller to cover, and rounded to the nearest whole number, half to "
            "even, and at least 1. These are the sizes of timm's ResizeKeepRatio; V.FitInside cuts fractions off, as "
            "MXNet. Pixels are those of Resize.\n"
            "Errors: another dtype or rank, an image without pixels; of the row, a side that would exceed 65,535.",
     .attributes = {SizeAttribute("(height, width), or one number for both."),
                    {.name = "rule",
                     .type = ir::AttributeType::kString,
                     .doc = "fit: no side is longer than its size; cover: none is shorter.",
                     .default_value = "'fit'",
                     .choices = {"fit", "cover"}},
                    InterpolationAttribute(),
                    AntialiasAttribute()},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.ResizeKeepRatio((300, 400))",
     .sample = {.attributes = {{"size", "(30, 50)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferBy(RatioKept),
     .is_kernel_identity = KeepsSizeBy(RatioKept)},
    Makes<ResizeKeepRatio>()};

}  // namespace
}  // namespace headrace
