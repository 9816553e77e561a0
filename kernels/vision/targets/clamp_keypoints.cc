#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/canvas_keypoints.h"

namespace headrace {
namespace {

class ClampKeypoints : public UnaryKernel {
 public:
  explicit ClampKeypoints(const ir::Attributes&) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(CanvasKeypoints keypoints, CanvasKeypoints::Of(input));
    keypoints.ClampToPixels();
    return keypoints.ToTensor(context.output());
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferClampKeypoints(const ir::Attributes&,
                                                                absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, KeypointsType(inputs[0], 0));
  return std::vector{std::move(type)};
}

const KernelRegistration clamp_keypoints_registration{
    {.name = "ClampKeypoints",
     .summary = "Moves keypoints that left the image to its border.",
     .doc = "For a map with hr.keypoints(…): a point outside comes to the nearest place of the image, x from 0 to its "
            "width less 1 and y from 0 to its height less 1. Images, masks and boxes stay as they are. torchvision's "
            "ClampKeyPoints.\n"
            "Errors: a map without hr.keypoints(…).",
     .python_module = "vision",
     .example = "V.ClampKeypoints()",
     .infer_kernel = InferClampKeypoints,
     .target_work = ir::TargetWork::kChangesKeypoints},
    Makes<ClampKeypoints>()};

}  // namespace
}  // namespace headrace
