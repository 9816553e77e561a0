// `DecodeKernel` is a kernel that decodes an image, or only a part of it that the caller chooses once the size is
// known.
// Threads: that of kernels.
#ifndef HEADRACE_KERNELS_VISION_CODECS_DECODE_KERNEL_H_
#define HEADRACE_KERNELS_VISION_CODECS_DECODE_KERNEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "kernels/kernel.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/image/window.h"

namespace headrace {

struct DecodedPart {
  Image image;
  Window held;  // the position of the decoded part in the image
};

// The wanted part of an image.
struct WantedPart {
  // Implicit, because most callers want the pixels for further steps.
  WantedPart(const Window& window) : window(window) {}
  WantedPart(const Window& window, OutputAllocator* output, RowNotes* notes = nullptr)
      : window(window), output(output), notes(notes) {}

  Window window;
  OutputAllocator* output = nullptr;  // allocates the pixels if they are the row's result
  RowNotes* notes = nullptr;          // of the row; null: nothing is kept of it
};

// Chooses the wanted part of an image of this size; an error ends the decoding.
using ChoosePart = absl::FunctionRef<absl::StatusOr<WantedPart>(int64_t height, int64_t width)>;

class DecodeKernel : public UnaryKernel {
 public:
  // At least the chosen part, with the pixels of Apply; an error if and only if Apply gives one, or `choose` does.
  // Raises a RowWarning if the decoded data is damaged; damage outside of the part may go unnoticed.
  virtual absl::StatusOr<DecodedPart> ApplyPart(const Tensor& input, const ChoosePart& choose) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_DECODE_KERNEL_H_
