// `ImageSize` is the height and width of an image, in pixels.
// Threads: values and pure functions.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_IMAGE_SIZE_H_
#define HEADRACE_KERNELS_VISION_IMAGE_IMAGE_SIZE_H_

#include <cstdint>
#include <optional>

#include "ir/type.h"

namespace headrace {

struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;

  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

// That of all images of the type; nullopt: not known.
inline std::optional<ImageSize> KnownSize(const ir::ColumnType& type) {
  if (!type.shape || (*type.shape)[0] <= 0 || (*type.shape)[1] <= 0) return std::nullopt;
  return ImageSize{(*type.shape)[0], (*type.shape)[1]};
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_IMAGE_SIZE_H_
