// `WarpKernel` is what the kernels that warp share: their attributes `interpolation`, `fill` and `center`, and their
// declarations.
// Threads: that of kernels.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_WARP_KERNEL_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_WARP_KERNEL_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/affine_map.h"
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

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_WARP_KERNEL_H_
