#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/canvas_boxes.h"
#include "kernels/vision/geometry/image_moves.h"

namespace headrace {
namespace {

class ClampBoxes : public UnaryKernel {
 public:
  explicit ClampBoxes(const ir::Attributes&) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(CanvasBoxes boxes, CanvasBoxes::Of(input));
    // A cut that keeps all of the image clamps what is on it.
    MovePlan plan(boxes.height(), boxes.width());
    plan.Cut({0, 0, boxes.height(), boxes.width()}, Border::kConstant, {});
    boxes.Follow(plan);
    return boxes.ToTensor(context.output());
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferClampBoxes(const ir::Attributes&,
                                                            absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, RowsOfFourType(inputs[0], 0));
  return std::vector{std::move(type)};
}

const KernelRegistration clamp_boxes_registration{
    {.name = "ClampBoxes",
     .summary = "Cuts boxes off at the border of the image.",
     .doc =
         "For a map with hr.boxes(…): left and right come to 0 … width, top and bottom to 0 … height. A box outside "
         "becomes one without area, which SanitizeBoxes removes. Kernels that cut, pad or warp do this by themselves. "
         "Images, masks and keypoints stay as they are. torchvision's ClampBoundingBoxes.\n"
         "Errors: a map without hr.boxes(…).",
     .python_module = "vision",
     .example = "V.ClampBoxes()",
     .infer_kernel = InferClampBoxes,
     .target_work = ir::TargetWork::kChangesBoxes},
    Makes<ClampBoxes>()};

}  // namespace
}  // namespace headrace
