#include "kernels/vision/geometry/geometric_kernel.h"

#include "core/error.h"

namespace headrace {

absl::StatusOr<Tensor> GeometricKernel::Apply(const Tensor& input, KernelContext& context) const {
  HEADRACE_RETURN_IF_ERROR(CheckImage(input, accepted()));
  MovePlan plan(input.dim(0), input.dim(1));
  HEADRACE_RETURN_IF_ERROR(Plan(context.random(), plan));
  const bool keeps = plan.Keeps(input.dim(0), input.dim(1));
  if (keeps && !plan.requires_fills()) return input;
  HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, accepted()));
  HEADRACE_RETURN_IF_ERROR(plan.CheckFills(image));
  if (keeps) return input;
  HEADRACE_ASSIGN_OR_RETURN(const Image moved,
                            Moved(image, {0, 0, image.height, image.width}, plan.Needed(), plan, context.output()));
  return TensorOf(moved, context.output());
}

absl::Status GeometricKernel::MoveTarget(RowRandom& random, CanvasTarget& target) const {
  MovePlan plan(target.height(), target.width());
  HEADRACE_RETURN_IF_ERROR(Plan(random, plan));
  target.Follow(plan);
  return absl::OkStatus();
}

}  // namespace headrace
