#include "kernels/vision/geometry/flip.h"

#include <cstring>

#include "core/error.h"
#include "kernels/vision/pixels/reverse_row.h"

namespace headrace {

absl::StatusOr<Tensor> FlippedLeftRight(const Image& image, OutputAllocator& output) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor flipped, AllocateLike(image, image.height, image.width, output));
  const int64_t row_bytes = image.width * image.pixel_bytes();
  for (int64_t y = 0; y < image.height; ++y) {
    ReverseRow(image.row(y), image.width, image.pixel_bytes(), flipped.mutable_raw() + y * row_bytes);
  }
  return flipped;
}

absl::StatusOr<Tensor> FlippedTopBottom(const Image& image, OutputAllocator& output) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor flipped, AllocateLike(image, image.height, image.width, output));
  const int64_t row_bytes = image.width * image.pixel_bytes();
  for (int64_t y = 0; y < image.height; ++y) {
    std::memcpy(flipped.mutable_raw() + y * row_bytes, image.row(image.height - 1 - y), row_bytes);
  }
  return flipped;
}

}  // namespace headrace
