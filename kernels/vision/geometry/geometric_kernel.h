// `GeometricKernel` is a kernel that only moves pixels (cuts, resizing, flips). It plans its moves before any pixel is
// read, so that the fused pass can join several of them.
// Threads: that of kernels.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_GEOMETRIC_KERNEL_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_GEOMETRIC_KERNEL_H_

#include "absl/status/statusor.h"
#include "core/philox.h"
#include "core/tensor.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/canvas_target.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/image/image.h"

namespace headrace {

class GeometricKernel : public UnaryKernel, public TargetMover {
 public:
  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const final;
  absl::Status MoveTarget(RowRandom& random, CanvasTarget& target) const final;

  virtual PixelTypes accepted() const = 0;
  // Draws its random numbers and adds its moves for one image. Fails with kGraph if it does not support the size.
  virtual absl::Status Plan(RowRandom& random, MovePlan& plan) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_GEOMETRIC_KERNEL_H_
