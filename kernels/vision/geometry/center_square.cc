#include <algorithm>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

constexpr ir::Number kCenterSquareZeros[] = {int64_t{0}};
constexpr absl::Span<const ir::Number> kZero(kCenterSquareZeros);

class CenterSquare : public GeometricKernel {
 public:
  explicit CenterSquare(const ir::Attributes&) {}

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    const int64_t side = std::min(plan.height(), plan.width());
    plan.Cut({(plan.height() - side) / 2, (plan.width() - side) / 2, side, side}, Border::kConstant, kZero);
    return absl::OkStatus();
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferCenterSquare(const ir::Attributes&,
                                                              absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  if (!type.shape) return std::vector{type};
  const int64_t height = (*type.shape)[0];
  const int64_t width = (*type.shape)[1];
  const bool known = height != ir::kUnknownDim && width != ir::kUnknownDim;
  const int64_t side = known ? std::min(height, width) : ir::kUnknownDim;
  return std::vector{WithSize(type, side, side)};
}

const MovingRegistration center_square_registration{
    {.name = "CenterSquare",
     .summary = "Cuts the largest square out of the middle of an image.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type with height and width "
            "min(H, W). An odd pixel stays after the square: it begins at (H - W) // 2, as im2rec's --center-crop has "
            "it, where CenterCrop rounds as torchvision.\n"
            "Errors: another rank, bytes or strings, and an image without pixels.",
     .attributes = {},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.CenterSquare()",
     .sample = {.inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferCenterSquare,
     .is_kernel_identity =
         [](const ir::Attributes&, absl::Span<const ir::ColumnType> inputs) {
           return AlwaysAnImage(inputs[0], PixelTypes::kFixedSize) && (*inputs[0].shape)[0] == (*inputs[0].shape)[1];
         }},
    Makes<CenterSquare>()};

}  // namespace
}  // namespace headrace
