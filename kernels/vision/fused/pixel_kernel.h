// `PixelKernel` is a kernel that computes pixels without moving them, or changes the order of the axes. It gives its
// steps for one image, so that one pass over the pixels can run the steps of several kernels.
// Threads: that of kernels.
#ifndef HEADRACE_KERNELS_VISION_FUSED_PIXEL_KERNEL_H_
#define HEADRACE_KERNELS_VISION_FUSED_PIXEL_KERNEL_H_

#include "core/philox.h"
#include "kernels/kernel.h"
#include "kernels/vision/fused/pixel_pass.h"

namespace headrace {

class PixelKernel : public UnaryKernel {
 public:
  // Whether its steps work on an image whose channels come first, or last; as its declaration says (TakesImage).
  virtual bool Takes(bool channels_first) const { return !channels_first; }
  virtual bool moves_channels_first() const { return false; }
  // Adds its steps for one image, which must not outlive the kernel. Also requires the steps that its draw leaves
  // out, so that errors do not depend on draws.
  virtual void AddTo(PixelSteps& steps, RowRandom& random) const = 0;
};

// A kernel that takes only images. Alone, it runs its own steps as one pass.
class ImagePixelKernel : public PixelKernel {
 public:
  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const final;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_FUSED_PIXEL_KERNEL_H_
