// `FusedImage` runs several vision kernels as one pass over the pixels: the part to cut out is chosen before decoding,
// resizing reads the decoded part, and flips, arithmetic and layout are done while the result is written. The plain
// kernels are the specification: the pass gives the same bits.
// Threads: made once and const afterwards; Apply is safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_FUSED_FUSED_IMAGE_H_
#define HEADRACE_KERNELS_VISION_FUSED_FUSED_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/row_id.h"
#include "core/tensor.h"
#include "kernels/fused_run.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/fused/pixel_kernel.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"

namespace headrace {

class FusedImage : public FusedRun {
 public:
  // Builds a pass from the longest prefix of parts that fits: an optional decode kernel, then geometric kernels,
  // then pixel kernels.
  static FusedImage Make(absl::Span<const Part> parts);
  // Fewer than two are not worth a pass.
  size_t parts() const override { return parts_; }

  // Damage outside of the decoded part goes unnoticed.
  absl::StatusOr<Tensor> Apply(const Tensor& input, const RowId& id, OutputAllocator& output,
                               RowNotes* notes) const override;

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

#endif  // HEADRACE_KERNELS_VISION_FUSED_FUSED_IMAGE_H_
