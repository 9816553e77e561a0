#include "kernels/vision/fused/pixel_kernel.h"

#include "core/error.h"

namespace headrace {

absl::StatusOr<Tensor> ImagePixelKernel::Apply(const Tensor& input, KernelContext& context) const {
  HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kByteOrFloat));
  PixelSteps steps({image.height, image.width});
  AddTo(steps, context.random());
  if (steps.Empty()) {
    HEADRACE_RETURN_IF_ERROR(steps.CheckLeftOut(image));
    return input;
  }
  return RunPixelSteps(image, {}, steps, context.output());
}

}  // namespace headrace
