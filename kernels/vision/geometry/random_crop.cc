#include <algorithm>
#include <optional>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/image/size_attribute.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

// The image's sides are with their margins.
absl::Status CropTooLarge(absl::Span<const int64_t> size, int64_t height, int64_t width, const Margins& margins) {
  return GraphError("the crop (", size[0], ", ", size[1], ") is larger than the image (", height, ", ", width,
                    margins.Any() ? ") with its padding" : ")", "; use pad_if_needed=True, or resize first");
}

class RandomCrop : public GeometricKernel {
 public:
  explicit RandomCrop(const ir::Attributes& attributes)
      : size_(attributes.Ints("size")),
        pad_if_needed_(attributes.Bool("pad_if_needed")),
        fill_(attributes.Numbers("fill")),
        border_(BorderOf(attributes.String("mode"))) {
    if (!attributes.IsNone("padding")) margins_ = MarginsOf(attributes.Ints("padding"));
  }

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom& random, MovePlan& plan) const override {
    Margins margins = margins_;
    int64_t height = margins.top + plan.height() + margins.bottom;
    int64_t width = margins.left + plan.width() + margins.right;
    // Adds the missing pixels on both sides, as torchvision does.
    if (pad_if_needed_ && width < size_[1]) {
      margins.left += size_[1] - width;
      width = 2 * size_[1] - width;
    }
    if (pad_if_needed_ && height < size_[0]) {
      margins.top += size_[0] - height;
      height = 2 * size_[0] - height;
    }
    if (height < size_[0] || width < size_[1]) return CropTooLarge(size_, height, width, margins_);
    // Always draws both numbers, so that the rest of the stream does not depend on the image.
    const int64_t top = static_cast<int64_t>(random.Below(height - size_[0] + 1));
    const int64_t left = static_cast<int64_t>(random.Below(width - size_[1] + 1));
    plan.Cut({top - margins.top, left - margins.left, size_[0], size_[1]}, border_, fill_);
    return absl::OkStatus();
  }

 private:
  std::vector<int64_t> size_;
  Margins margins_;
  bool pad_if_needed_;
  std::vector<ir::Number> fill_;
  Border border_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferRandomCrop(const ir::Attributes& attributes,
                                                            absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<ir::ColumnType> cut, InferCutToSize(attributes, inputs));
  const std::optional<Shape>& shape = inputs[0].shape;
  if (!shape || shape->size() < 2 || attributes.Bool("pad_if_needed")) return cut;
  Margins margins;
  if (!attributes.IsNone("padding")) margins = MarginsOf(attributes.Ints("padding"));
  const std::vector<int64_t> size = attributes.Ints("size");
  const int64_t height = (*shape)[0] == ir::kUnknownDim ? size[0] : (*shape)[0] + margins.top + margins.bottom;
  const int64_t width = (*shape)[1] == ir::kUnknownDim ? size[1] : (*shape)[1] + margins.left + margins.right;
  if (height < size[0] || width < size[1]) return CropTooLarge(size, height, width, margins);
  return cut;
}

ir::Attribute OptionalPadding() {
  ir::Attribute padding = PaddingAttribute();
  padding.default_value = "None";
  padding.nullable = true;
  return padding;
}

const MovingRegistration random_crop_registration{
    {.name = "RandomCrop",
     .summary = "Cuts a rectangle out of an image at a random position.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type with the height and "
            "width of `size`. The image is padded first on request; all positions inside are equally likely. Follows "
            "torchvision's RandomCrop.\n"
            "Errors: an image smaller than the crop (unless pad_if_needed), another rank, bytes or strings.",
     .attributes = {SizeAttribute(),
                    OptionalPadding(),
                    {.name = "pad_if_needed",
                     .type = ir::AttributeType::kBool,
                     .doc = "Pads an image that is smaller than the crop on both sides by what is missing.",
                     .default_value = "False"},
                    FillAttribute(),
                    BorderAttribute()},
     .traits = {.random = true, .geometric = true},
     .python_module = "vision",
     .example = "V.RandomCrop(32, padding=4)",
     .sample = {.attributes = {{"size", "(20, 30)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferRandomCrop},
    Makes<RandomCrop>()};

}  // namespace
}  // namespace headrace
