// Kernels that compute pixels in their places, or change the order of the axes. Each says which steps it takes for one
// picture, so that a pass over the pixels can do those of several kernels at once.
// Thread contract: that of kernels.
#ifndef HEADRACE_KERNELS_VISION_PIXEL_KERNEL_H_
#define HEADRACE_KERNELS_VISION_PIXEL_KERNEL_H_

#include "core/philox.h"
#include "kernels/kernel.h"
#include "kernels/vision/pixel_pass.h"

namespace headrace {

class PixelKernel : public UnaryKernel {
 public:
  // Whether its steps work on an image whose channels come first, or last; as its declaration says (TakesImage).
  virtual bool Takes(bool channels_first) const { return !channels_first; }
  virtual bool moves_channels_first() const { return false; }
  // Adds its steps for one picture, which must not outlive the kernel, and requires those that it draws to leave out.
  // Draws what it draws for a picture.
  virtual void AddTo(PixelSteps& steps, RowRandom& random) const = 0;
};

// One that takes images alone: by itself it is a pass of its own steps.
class ImagePixelKernel : public PixelKernel {
 public:
  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const final;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXEL_KERNEL_H_
