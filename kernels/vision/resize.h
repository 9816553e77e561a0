// Resizing by any of the interpolations, with Pillow's filters (antialias) or OpenCV's cv::resize, and the attributes
// that choose. Reads any view of an image, so a crop is resized without being copied. Safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_RESIZE_H_
#define HEADRACE_KERNELS_VISION_RESIZE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "kernels/vision/image.h"

namespace headrace {

enum class Interpolation { kNearest, kBilinear, kBicubic, kArea };

struct Resizing {
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;

  // From the attributes below.
  static Resizing Of(const ir::Attributes& attributes);
};

absl::StatusOr<Tensor> Resized(const Image& image, int64_t height, int64_t width, Resizing resizing);

ir::Attribute InterpolationAttribute();
ir::Attribute AntialiasAttribute();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_RESIZE_H_
