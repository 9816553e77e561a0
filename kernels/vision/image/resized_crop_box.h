// `DrawResizedCropBox` draws the random rectangle of RandomResizedCrop, as torchvision does. It depends only on the
// image's size and the row's stream, so images of one size in one row are cropped alike.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_RESIZED_CROP_BOX_H_
#define HEADRACE_KERNELS_VISION_IMAGE_RESIZED_CROP_BOX_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/philox.h"
#include "ir/attributes.h"

namespace headrace {

struct CropBox {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;

  friend bool operator==(const CropBox&, const CropBox&) = default;
};

struct Interval {
  // From an attribute of two numbers. Fails with kGraph if it ends before it begins.
  static absl::StatusOr<Interval> Of(const ir::Attributes& attributes, std::string_view name);

  double low = 0;
  double high = 0;
};

// `scale`: the box's share of the area, uniform; `ratio`: width over height, uniform in its logarithm. After ten boxes
// that do not fit, the largest of an allowed ratio in the middle.
CropBox DrawResizedCropBox(int64_t height, int64_t width, Interval scale, Interval ratio, RowRandom& random);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_RESIZED_CROP_BOX_H_
