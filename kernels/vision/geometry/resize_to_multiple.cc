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

ImageSize MultiplesBelow(ImageSize image, int64_t divisor) {
  const auto side = [divisor](int64_t length) { return std::max(length / divisor, int64_t{1}) * divisor; };
  return {side(image.height), side(image.width)};
}

// In the order of DPT's operations, in float64, so that halves are halves.
ImageSize MultiplesNear(ImageSize image, int64_t divisor, const std::vector<int64_t>& size) {
  const auto height = static_cast<double>(image.height);
  const auto width = static_cast<double>(image.width);
  const double by_height = static_cast<double>(size[0]) / height;
  const double by_width = static_cast<double>(size[1]) / width;
  const double scale = std::abs(1 - by_width) < std::abs(1 - by_height) ? by_width : by_height;
  const auto side = [scale, divisor](double length) {
    return WholeSide(std::nearbyint(scale * length / static_cast<double>(divisor))) * divisor;
  };
  return {side(height), side(width)};
}

std::vector<int64_t> SizeToMultiple(const ir::Attributes& attributes) {
  return attributes.IsNone("size") ? std::vector<int64_t>() : attributes.Ints("size");
}

ImageSize MultiplesFor(ImageSize image, int64_t divisor, const std::vector<int64_t>& size) {
  return size.empty() ? MultiplesBelow(image, divisor) : MultiplesNear(image, divisor, size);
}

class ResizeToMultiple : public GeometricKernel {
 public:
  explicit ResizeToMultiple(const ir::Attributes& attributes)
      : divisor_(attributes.Int("divisor")), size_(SizeToMultiple(attributes)), resizing_(Resizing::Of(attributes)) {}

  PixelTypes accepted() const override { return resizing_.accepted(); }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    const ImageSize size = MultiplesFor({plan.height(), plan.width()}, divisor_, size_);
    if (std::max(size.height, size.width) > kMostSide) {
      return DataError("an image of height ", plan.height(), " and width ", plan.width(),
                       " would be resized to a side of ", std::max(size.height, size.width),
                       " pixels, and 65535 is the most");
    }
    plan.Resize(size.height, size.width, resizing_);
    return absl::OkStatus();
  }

 private:
  int64_t divisor_;
  std::vector<int64_t> size_;  // empty: the image's own
  Resizing resizing_;
};

ImageSize Multiples(const ir::Attributes& attributes, ImageSize image) {
  return MultiplesFor(image, attributes.Int("divisor"), SizeToMultiple(attributes));
}

const MovingRegistration resize_to_multiple_registration{
    {.name = "ResizeToMultiple",
     .summary = "Resizes an image to a height and width that a number divides.",
     .doc = "Takes uint8, uint16 or float32 of shape (H, W, C) or (H, W) and gives the same dtype with another height "
            "and width; values stay in the units of the input. Without `size` each side becomes the largest multiple "
            "that is not longer, as in GLPN. With it both sides are multiplied by size[0] / H or size[1] / W, "
            "whichever is nearer to 1, and rounded to the nearest multiple, half to an even one: DPT's "
            "keep_aspect_ratio, in float64. Sides are at least `divisor`. Pixels are those of Resize.\n"
            "Errors: another dtype or rank, an image without pixels; of the row, a side that would exceed 65,535.",
     .attributes = {{.name = "divisor",
                     .doc = "What divides the height and the width of the result.",
                     .minimum = 1,
                     .maximum = kMostSide},
                    {.name = "size",
                     .type = ir::AttributeType::kInts,
                     .doc = "(height, width) of which one is aimed at, or one number for both; None: the image's own.",
                     .default_value = "None",
                     .nullable = true,
                     .minimum = 1,
                     .maximum = kMostSide,
                     .lengths = {2},
                     .broadcast = true},
                    InterpolationAttribute(),
                    AntialiasAttribute()},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.ResizeToMultiple(14, 518)",
     .sample = {.attributes = {{"divisor", "16"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferBy(Multiples),
     .is_kernel_identity = KeepsSizeBy(Multiples)},
    Makes<ResizeToMultiple>()};

}  // namespace
}  // namespace headrace
