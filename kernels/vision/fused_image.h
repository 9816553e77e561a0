// `FusedImage` runs several vision kernels as one pass over the pixels: the part to cut out is chosen before decoding,
// resizing reads the decoded part, and flips, arithmetic and layout are done while the result is written. The plain
// kernels are the specification: the pass gives the same bits.
// Threads: made once and const afterwards; Apply is safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_FUSED_IMAGE_H_
#define HEADRACE_KERNELS_VISION_FUSED_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/row_id.h"
#include "core/tensor.h"
#include "kernels/kernel.h"
#include "kernels/vision/decode_kernel.h"
#include "kernels/vision/geometric_kernel.h"
#include "kernels/vision/image_moves.h"
#include "kernels/vision/pixel_kernel.h"

namespace headrace {

class FusedImage {
 public:
  struct Part {
    const Kernel* kernel = nullptr;  // must outlive the pass
    uint64_t seed = 0;
    uint64_t salt = 0;
  };
  // Builds a pass from the longest prefix of parts that fits: an optional decode kernel, then geometric kernels,
  // then pixel kernels.
  static FusedImage Make(absl::Span<const Part> parts);
  // The number of fused parts; fewer than two are not worth a pass.
  size_t parts() const { return parts_; }

  // Fails if a plain kernel would; the plain kernels then report the error. Damage outside of the decoded part goes
  // unnoticed. The result is allocated by `output` unless it is a view.
  absl::StatusOr<Tensor> Apply(const Tensor& input, const RowId& id, OutputAllocator& output) const;

 private:
  template <typename K>
  struct Drawing {
    const K* kernel;
    uint64_t seed;
    uint64_t salt;
  };
  absl::StatusOr<MovePlan> Plan(int64_t height, int64_t width, const RowId& id) const;
  PixelSteps Steps(const MovePlan& plan, const RowId& id) const;
  absl::StatusOr<Tensor> Write(const Image& image, const Window& held, const Window& needed, MovePlan plan,
                               PixelSteps steps, OutputAllocator& output) const;

  const DecodeKernel* decoder_ = nullptr;
  std::vector<Drawing<GeometricKernel>> moves_;
  std::vector<Drawing<PixelKernel>> pixels_;
  size_t parts_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_FUSED_IMAGE_H_
