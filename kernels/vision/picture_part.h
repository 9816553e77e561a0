// A picture of which only a part may be decoded: who wants it says which part once its size is known.
#ifndef HEADRACE_KERNELS_VISION_PICTURE_PART_H_
#define HEADRACE_KERNELS_VISION_PICTURE_PART_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "kernels/kernel.h"
#include "kernels/vision/image.h"
#include "kernels/vision/window.h"

namespace headrace {

struct PicturePart {
  Image image;
  Window held;  // which part of the picture it is
};

// The part wanted of a picture.
struct WantedPart {
  // Converts, since most callers want pixels for what follows.
  WantedPart(const Window& window) : window(window) {}
  WantedPart(const Window& window, OutputAllocator* output) : window(window), output(output) {}

  Window window;
  OutputAllocator* output = nullptr;  // allocates the pixels where they are the row's result
};

// The part wanted of a picture of this size; an error ends the decoding.
using ChoosePart = absl::FunctionRef<absl::StatusOr<WantedPart>(int64_t height, int64_t width)>;

// A kernel that turns encoded bytes into an image.
class PictureKernel : public UnaryKernel {
 public:
  // At least the part chosen, with the pixels that Apply gives; an error if and only if Apply gives one, or `choose`
  // does. Raises a RowWarning where what was read is damaged; damage beyond the part may not be seen.
  virtual absl::StatusOr<PicturePart> ApplyPart(const Tensor& input, const ChoosePart& choose) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PICTURE_PART_H_
