#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

class Pad : public GeometricKernel {
 public:
  explicit Pad(const ir::Attributes& attributes)
      : margins_(MarginsOf(attributes.Ints("padding"))),
        fill_(attributes.Numbers("fill")),
        border_(BorderOf(attributes.String("mode"))) {}

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    plan.Cut({-margins_.top, -margins_.left, margins_.top + plan.height() + margins_.bottom,
              margins_.left + plan.width() + margins_.right},
             border_, fill_);
    return absl::OkStatus();
  }

 private:
  Margins margins_;
  std::vector<ir::Number> fill_;
  Border border_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferPad(const ir::Attributes& attributes,
                                                     absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  if (!type.shape) return std::vector{type};
  const Margins margins = MarginsOf(attributes.Ints("padding"));
  const auto grown = [](int64_t size, int64_t by) { return size == ir::kUnknownDim ? size : size + by; };
  const int64_t height = grown((*type.shape)[0], margins.top + margins.bottom);
  const int64_t width = grown((*type.shape)[1], margins.left + margins.right);
  return std::vector{WithSize(type, height, width)};
}

const MovingRegistration pad_registration{
    {.name = "Pad",
     .summary = "Adds pixels around an image.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type, larger by the padding. "
            "Follows torchvision's Pad and numpy.pad: constant holds `fill`, edge repeats the last pixel, reflect "
            "mirrors without repeating it, symmetric mirrors with it; padding wider than the image mirrors again.\n"
            "Errors: a fill that the type cannot hold, another rank, bytes or strings.",
     .attributes = {PaddingAttribute(), FillAttribute(), BorderAttribute()},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.Pad(4, mode='reflect')",
     .sample = {.attributes = {{"padding", "(1, 2)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferPad,
     .is_kernel_identity =
         [](const ir::Attributes& attributes, absl::Span<const ir::ColumnType> inputs) {
           return !MarginsOf(attributes.Ints("padding")).Any() && AlwaysAnImage(inputs[0], PixelTypes::kFixedSize);
         }},
    Makes<Pad>()};

}  // namespace
}  // namespace headrace
