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

int64_t Truncated(float side) { return std::max<int64_t>(static_cast<int64_t>(side), 1); }

// Computed in float32, as MXNet does: the fraction that is cut off can be that of a whole number.
ImageSize Fitted(ImageSize image, const std::vector<int64_t>& size, bool enlarge) {
  auto height = static_cast<float>(image.height);
  auto width = static_cast<float>(image.width);
  const auto most_height = static_cast<float>(size[0]);
  const auto most_width = static_cast<float>(size[1]);
  if (enlarge) {
    const float ratio = std::min(most_height / height, most_width / width);
    return {Truncated(height * ratio), Truncated(width * ratio)};
  }
  if (height > most_height) {
    width = width * most_height / height;
    height = most_height;
  }
  if (width > most_width) {
    height = height * most_width / width;
    width = most_width;
  }
  return {Truncated(height), Truncated(width)};
}

class FitInside : public GeometricKernel {
 public:
  explicit FitInside(const ir::Attributes& attributes)
      : size_(attributes.Ints("size")),
        enlarges_(attributes.Bool("enlarge")),
        resizing_(Resizing::Of(attributes)),
        chooses_(attributes.String("interpolation") == "auto") {}

  PixelTypes accepted() const override { return resizing_.accepted(); }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    const ImageSize image = {plan.height(), plan.width()};
    const ImageSize fitted = Fitted(image, size_, enlarges_);
    if (fitted == image) return absl::OkStatus();
    Resizing resizing = resizing_;
    if (chooses_) resizing.interpolation = BestInterpolation(image, fitted);
    plan.Resize(fitted.height, fitted.width, resizing);
    return absl::OkStatus();
  }

 private:
  std::vector<int64_t> size_;
  bool enlarges_;
  Resizing resizing_;
  bool chooses_;  // the interpolation, for each image
};

ImageSize FittedBy(const ir::Attributes& attributes, ImageSize image) {
  return Fitted(image, attributes.Ints("size"), attributes.Bool("enlarge"));
}

const MovingRegistration fit_inside_registration{
    {.name = "FitInside",
     .summary = "Resizes an image to the largest of its ratio that fits into a size.",
     .doc = "Takes uint8, uint16 or float32 of shape (H, W, C) or (H, W) and gives the "
            "same dtype; values stay in the units of the input. The sides keep their ratio: height and width become "
            "those times min(size[0] / H, size[1] / W), truncated, in float32, and at least 1. With `enlarge=False` an "
            "image that fits stays as it is. These are MXNet's resize_mode \"fit\" and \"shrink\" of detection; "
            "T.PadEnd then fills an image up to one shape. Pixels are those of Resize.\n"
            "Errors: another dtype or rank, an image without pixels.",
     .attributes = {SizeAttribute("(height, width), or one number for both."),
                    {.name = "enlarge",
                     .type = ir::AttributeType::kBool,
                     .doc = "Whether images that are smaller are resized, too.",
                     .default_value = "True"},
                    InterpolationOrAuto("area if both sides shrink, bicubic if both grow, else bilinear"),
                    AntialiasAttribute()},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.FitInside((300, 400))",
     .sample = {.attributes = {{"size", "(30, 50)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferBy(FittedBy),
     .is_kernel_identity = KeepsSizeBy(FittedBy)},
    Makes<FitInside>()};

}  // namespace
}  // namespace headrace
