// `WarpKernel` is what the kernels that warp share: their attributes `interpolation`, `fill` and `center`, and their
// declarations. Use `MapKernel` for those that warp by a map of the plane.
// Threads: that of kernels.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_WARP_KERNEL_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_WARP_KERNEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/affine_map.h"
#include "kernels/vision/geometry/canvas_target.h"
#include "kernels/vision/geometry/warp.h"
#include "kernels/vision/image/resized_crop_box.h"

namespace headrace {

class WarpKernel : public UnaryKernel {
 public:
  explicit WarpKernel(const ir::Attributes& attributes);
  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const final;

 protected:
  virtual absl::StatusOr<Tensor> Warp(const Image& image, const WarpOptions& options, RowRandom& random,
                                      OutputAllocator& output) const = 0;

 private:
  WarpFilter filter_;
  std::vector<ir::Number> fill_;
};

// From a result of this size to the image.
struct SizedMap {
  PlaneMap map;
  int64_t height;
  int64_t width;
};

// Warps images, and the targets on them, by a map that it draws from the size of the image.
class MapKernel : public WarpKernel, public TargetMover {
 public:
  using WarpKernel::WarpKernel;
  absl::Status MoveTarget(RowRandom& random, CanvasTarget& target) const final;

 protected:
  // nullopt: the image stays as it is.
  virtual std::optional<SizedMap> Draw(RowRandom& random, int64_t height, int64_t width) const = 0;

 private:
  absl::StatusOr<Tensor> Warp(const Image& image, const WarpOptions& options, RowRandom& random,
                              OutputAllocator& output) const final;
};

// Attributes.
std::optional<PlanePoint> CenterOf(const ir::Attributes& attributes);
ir::Attribute CenterAttribute();
// One number x is the interval (-x, x). Fails with kGraph for a negative one, and an interval that ends before it
// begins.
absl::StatusOr<Interval> SymmetricInterval(const ir::Attributes& attributes, std::string_view name);

// A declaration whose attributes are `own`, then interpolation and fill; `says` is inserted between the description of
// inputs and that of errors.
ir::Declaration WarpDeclaration(std::string name, std::string summary, std::string says, std::vector<ir::Attribute> own,
                                std::string_view filter = "nearest");

// The type of an image that keeps its size, if the attributes pass the check.
ir::InferKernel InferWarpedAfter(absl::Status (*check)(const ir::Attributes& attributes));

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_WARP_KERNEL_H_
