#include "kernels/vision/flip.h"

#include <cstring>

#include "core/error.h"
#include "kernels/vision/reverse_row.h"

namespace headrace {

absl::StatusOr<Tensor> FlippedLeftRight(const Image& image) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor output, AllocateLike(image, image.height, image.width));
  const int64_t row_bytes = image.width * image.pixel_bytes();
  for (int64_t y = 0; y < image.height; ++y) {
    ReverseRow(image.row(y), image.width, image.pixel_bytes(), output.mutable_raw() + y * row_bytes);
  }
  return output;
}

absl::StatusOr<Tensor> FlippedTopBottom(const Image& image) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor output, AllocateLike(image, image.height, image.width));
  const int64_t row_bytes = image.width * image.pixel_bytes();
  for (int64_t y = 0; y < image.height; ++y) {
    std::memcpy(output.mutable_raw() + y * row_bytes, image.row(image.height - 1 - y), row_bytes);
  }
  return output;
}

}  // namespace headrace
