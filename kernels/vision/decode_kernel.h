// A kernel that decodes an image, or only the part of it that the caller chooses once the size is known.
// Thread contract: that of kernels.
#ifndef HEADRACE_KERNELS_VISION_DECODE_KERNEL_H_
#define HEADRACE_KERNELS_VISION_DECODE_KERNEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "kernels/kernel.h"
#include "kernels/vision/image.h"
#include "kernels/vision/window.h"

namespace headrace {

struct DecodedPart {
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

class DecodeKernel : public UnaryKernel {
 public:
  // At least the part chosen, with the pixels that Apply gives; an error if and only if Apply gives one, or `choose`
  // does. Raises a RowWarning where what was read is damaged; damage beyond the part may not be seen.
  virtual absl::StatusOr<DecodedPart> ApplyPart(const Tensor& input, const ChoosePart& choose) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_DECODE_KERNEL_H_
