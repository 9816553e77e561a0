#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
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

// Computed in float32, as MXNet does: the fraction that is cut off can be that of a whole number.
int64_t OtherSide(int64_t wanted, int64_t side, int64_t other) {
  return static_cast<int64_t>(static_cast<float>(wanted) / static_cast<float>(side) * static_cast<float>(other));
}

// The sizes to which an image is resized, one after the other.
absl::InlinedVector<ImageSize, 2> Enlargements(ImageSize image, const std::vector<int64_t>& size) {
  absl::InlinedVector<ImageSize, 2> sizes;
  if (image.height < size[0]) {
    image = {size[0], OtherSide(size[0], image.height, image.width)};
    sizes.push_back(image);
  }
  if (image.width < size[1]) sizes.push_back({OtherSide(size[1], image.width, image.height), size[1]});
  return sizes;
}

class EnlargeToSize : public GeometricKernel {
 public:
  explicit EnlargeToSize(const ir::Attributes& attributes)
      : size_(attributes.Ints("size")),
        resizing_(Resizing::Of(attributes)),
        chooses_(attributes.String("interpolation") == "auto") {}

  PixelTypes accepted() const override { return resizing_.accepted(); }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    Resizing resizing = resizing_;
    if (chooses_ && plan.height() < size_[0] && plan.width() < size_[1]) {
      resizing.interpolation = Interpolation::kBicubic;
    }
    for (const ImageSize& larger : Enlargements({plan.height(), plan.width()}, size_)) {
      if (std::max(larger.height, larger.width) > kMostSide) {
        return DataError("an image of height ", plan.height(), " and width ", plan.width(),
                         " is too narrow: enlarged, its longer side would have ", std::max(larger.height, larger.width),
                         " pixels, and 65535 is the most");
      }
      plan.Resize(larger.height, larger.width, resizing);
    }
    return absl::OkStatus();
  }

 private:
  std::vector<int64_t> size_;
  Resizing resizing_;
  bool chooses_;  // the interpolation, for each image
};

ImageSize Enlarged(const ir::Attributes& attributes, ImageSize image) {
  const auto sizes = Enlargements(image, attributes.Ints("size"));
  return sizes.empty() ? image : sizes.back();
}

const MovingRegistration enlarge_to_size_registration{
    {.name = "EnlargeToSize",
     .summary = "Enlarges an image that is smaller than a size.",
     .doc = "Takes uint8, uint16 or float32 of shape (H, W, C) or (H, W) and gives the "
            "same dtype; values stay in the units of the input. An image that is too low is resized to the height of "
            "`size`, and one that is then too narrow "
            "to its width; the other side follows in proportion (truncated, in float32), so that a crop of that size "
            "fits. Other images stay as they are: what MXNet does before it crops. Pixels are those of Resize.\n"
            "Errors: another dtype or rank, an image without pixels; of the row, a side that would exceed 65,535.",
     .attributes = {SizeAttribute("(height, width), or one number for both."),
                    InterpolationOrAuto("bicubic if both sides grow, else bilinear"), AntialiasAttribute()},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.EnlargeToSize(224)",
     .sample = {.attributes = {{"size", "(70, 50)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferBy(Enlarged),
     .is_kernel_identity = KeepsSizeBy(Enlarged)},
    Makes<EnlargeToSize>()};

}  // namespace
}  // namespace headrace
