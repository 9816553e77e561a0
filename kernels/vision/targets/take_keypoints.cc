#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/canvas_keypoints.h"

namespace headrace {
namespace {

class TakeKeypoints : public UnaryKernel {
 public:
  explicit TakeKeypoints(const ir::Attributes&) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext&) const override {
    HEADRACE_ASSIGN_OR_RETURN(const CanvasKeypoints placed, CanvasKeypoints::Of(input));
    return input.Slice(0, 0, static_cast<int64_t>(placed.groups()));
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferTakeKeypoints(const ir::Attributes&,
                                                               absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, KeypointsType(inputs[0], -1));
  return std::vector{std::move(type)};
}

const KernelRegistration take_keypoints_registration{
    {.name = "TakeKeypoints",
     .written_as = "hr.keypoints",
     .summary = "Takes keypoints off the canvas of their image.",
     .doc = "Takes keypoints as the kernels that move keypoints give them, and gives (n, …, 2) of the same dtype.\n"
            "Errors: anything else.",
     .python_module = "internal",
     .example = "ds.map(kernels, [\"image\", hr.keypoints(\"points\")])",
     .infer_kernel = InferTakeKeypoints,
     .target_work = ir::TargetWork::kTakesKeypoints},
    Makes<TakeKeypoints>()};

}  // namespace
}  // namespace headrace
