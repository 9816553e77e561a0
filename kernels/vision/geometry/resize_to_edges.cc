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

// In the order of DETR's operations, in float64, so that each fraction falls on the same side.
ImageSize SizeBetweenEdges(ImageSize image, int64_t shortest, int64_t longest) {
  const auto height = static_cast<double>(image.height);
  const auto width = static_cast<double>(image.width);
  const auto most = static_cast<double>(longest);
  auto shorter = static_cast<double>(shortest);
  double unrounded = shorter;
  if (std::max(height, width) / std::min(height, width) * shorter > most) {
    unrounded = most * std::min(height, width) / std::max(height, width);
    shorter = std::nearbyint(unrounded);
  }
  if (std::min(height, width) == shorter) return image;
  if (width < height) return {WholeSide(unrounded * height / width), WholeSide(shorter)};
  return {WholeSide(shorter), WholeSide(unrounded * width / height)};
}

class ResizeToEdges : public GeometricKernel {
 public:
  explicit ResizeToEdges(const ir::Attributes& attributes)
      : shortest_(attributes.Int("shortest")),
        longest_(attributes.Int("longest")),
        resizing_(Resizing::Of(attributes)) {}

  PixelTypes accepted() const override { return resizing_.accepted(); }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    const ImageSize image = {plan.height(), plan.width()};
    const ImageSize size = SizeBetweenEdges(image, shortest_, longest_);
    if (size != image) plan.Resize(size.height, size.width, resizing_);
    return absl::OkStatus();
  }

 private:
  int64_t shortest_;
  int64_t longest_;
  Resizing resizing_;
};

ImageSize EdgesOf(const ir::Attributes& attributes, ImageSize image) {
  return SizeBetweenEdges(image, attributes.Int("shortest"), attributes.Int("longest"));
}

const MovingRegistration resize_to_edges_registration{
    {.name = "ResizeToEdges",
     .summary = "Resizes the shorter side of an image to a length, or less, so that the longer one keeps a limit.",
     .doc = "Takes uint8, uint16 or float32 of shape (H, W, C) or (H, W) and gives the same dtype with another height "
            "and width, in the ratio of the image's; values stay in the units of the input. The shorter side becomes "
            "`shortest`, or where the longer one would exceed `longest`, longest * min(H, W) / max(H, W), rounded to "
            "the nearest whole number, half to even; the longer side is then cut off to a whole number. An image whose "
            "shorter side has that length stays as it is. These are the sizes of DETR, in float64; those of "
            "V.Resize with `max_size` are torchvision's, which cuts off both sides. Pixels are those of Resize.\n"
            "Errors: another dtype or rank, an image without pixels.",
     .attributes =
         {{.name = "shortest", .doc = "The length of the shorter side.", .minimum = 1, .maximum = kMostSide},
          {.name = "longest", .doc = "The most that the longer side may be.", .minimum = 1, .maximum = kMostSide},
          InterpolationAttribute(),
          AntialiasAttribute()},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.ResizeToEdges(800, 1333)",
     .sample = {.attributes = {{"shortest", "50"}, {"longest", "60"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferBy(EdgesOf),
     .is_kernel_identity = KeepsSizeBy(EdgesOf)},
    Makes<ResizeToEdges>()};

}  // namespace
}  // namespace headrace
