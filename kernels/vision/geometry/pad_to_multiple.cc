#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/image/image_size.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

ImageSize MultipleOf(ImageSize image, int64_t divisor, bool beyond) {
  const auto side = [divisor, beyond](int64_t length) {
    // Beyond all images, where a type was declared so.
    if (length > std::numeric_limits<int64_t>::max() - divisor) return length;
    return (beyond ? length / divisor + 1 : (length + divisor - 1) / divisor) * divisor;
  };
  return {side(image.height), side(image.width)};
}

class PadToMultiple : public GeometricKernel {
 public:
  explicit PadToMultiple(const ir::Attributes& attributes)
      : divisor_(attributes.Int("divisor")),
        beyond_(attributes.Bool("beyond")),
        fill_(attributes.Numbers("fill")),
        border_(BorderOf(attributes.String("mode"))) {}

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    const ImageSize padded = MultipleOf({plan.height(), plan.width()}, divisor_, beyond_);
    plan.Cut({0, 0, padded.height, padded.width}, border_, fill_);
    return absl::OkStatus();
  }

 private:
  int64_t divisor_;
  bool beyond_;
  std::vector<ir::Number> fill_;
  Border border_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferPadToMultiple(const ir::Attributes& attributes,
                                                               absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  if (!type.shape) return std::vector{type};
  const ImageSize image = {(*type.shape)[0], (*type.shape)[1]};
  const ImageSize padded = MultipleOf(image, attributes.Int("divisor"), attributes.Bool("beyond"));
  return std::vector{WithSize(type, image.height == ir::kUnknownDim ? ir::kUnknownDim : padded.height,
                              image.width == ir::kUnknownDim ? ir::kUnknownDim : padded.width)};
}

const MovingRegistration pad_to_multiple_registration{
    {.name = "PadToMultiple",
     .summary = "Pads an image at the bottom and at the right to a height and width that a number divides.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type; see Pad. A side that "
            "`divisor` divides already stays, or with `beyond` grows by it, as in Swin2SR.\n"
            "Errors: a fill that the type cannot hold, another rank, bytes or strings.",
     .attributes = {{.name = "divisor",
                     .doc = "What divides the height and the width of the result.",
                     .minimum = 1,
                     .maximum = 65535},
                    {.name = "beyond",
                     .type = ir::AttributeType::kBool,
                     .doc = "Whether a side that is a multiple becomes the next one.",
                     .default_value = "False"},
                    FillAttribute(),
                    BorderAttribute()},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.PadToMultiple(32)",
     .sample = {.attributes = {{"divisor", "7"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferPadToMultiple,
     .is_kernel_identity =
         [](const ir::Attributes& attributes, absl::Span<const ir::ColumnType> inputs) {
           if (!AlwaysAnImage(inputs[0], PixelTypes::kFixedSize)) return false;
           const std::optional<ImageSize> image = KnownSize(inputs[0]);
           return image && MultipleOf(*image, attributes.Int("divisor"), attributes.Bool("beyond")) == *image;
         }},
    Makes<PadToMultiple>()};

}  // namespace
}  // namespace headrace
