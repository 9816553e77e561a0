// `PixelSteps` is a pass over the pixels of an image: steps and the change of layout, done row by row while the result
// is written, so that the pixels are read and written once. Where a step needs counts of the image, a pass before it
// makes them. Steps that follow each other and map bytes to bytes become one table (value_tables.h). The bits are those
// of the kernels run one after the other.
// Threads: PixelSteps belong to one image and one thread; RunPixelSteps is safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_FUSED_PIXEL_PASS_H_
#define HEADRACE_KERNELS_VISION_FUSED_PIXEL_PASS_H_

#include <array>
#include <cstddef>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/tensor.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/image/image_size.h"
#include "kernels/vision/image/pixel_step.h"

namespace headrace {

// The steps of one image, in order.
class PixelSteps {
 public:
  struct Call {
    const PixelStep* step = nullptr;
    PixelFacts facts = {};
  };
  static constexpr size_t kNever = std::numeric_limits<size_t>::max();

  explicit PixelSteps(ImageSize image) : image_(image) {}
  // The image's.
  ImageSize image() const { return image_; }

  // `step` must outlive the pass. The numbers are for its Run.
  void Add(const PixelStep& step, double factor = 0) { calls_.push_back({&step, {.factor = factor}}); }
  void Add(const PixelStep& step, std::array<double, 3> channel) { calls_.push_back({&step, {.channel = channel}}); }
  void AddIn(const Window& window, const PixelStep& step) { calls_.push_back({&step, {.window = window}}); }
  // For a step that a kernel leaves out for this image: pixels that it would not take are still refused, so that
  // errors do not depend on draws.
  void Require(const PixelStep& step) { required_.push_back({&step, calls_.size()}); }
  // (H, W, C) to (C, H, W): the steps added afterwards work on planes. At most once.
  void MoveChannelsFirst() { planes_from_ = calls_.size(); }

  // For an image without a step: fails if a step that was left out does not take its pixels.
  absl::Status CheckLeftOut(const Image& image) const;
  // Fails if a step that was left out does not take the format of the pixels that would come to it, and adds a check of
  // their range where it needs one.
  absl::Status TakeLeftOut(const Image& image);

  bool Empty() const { return calls_.empty() && planes_from_ == kNever; }
  absl::Span<Call> calls() { return absl::MakeSpan(calls_); }
  // The number of steps before the change of layout; kNever: there is none.
  size_t planes_from() const { return planes_from_; }

 private:
  struct Required {
    const PixelStep* step;
    size_t before;  // which call
  };
  ImageSize image_;
  absl::InlinedVector<Call, 8> calls_;
  absl::InlinedVector<Required, 4> required_;
  size_t planes_from_ = kNever;
};

// Flips the image and takes the steps. Fails with kGraph if a step, or one that was left out, does not take its pixels,
// with kData if it does not take their values.
absl::StatusOr<Tensor> RunPixelSteps(const Image& image, MovePlan::Flips flips, PixelSteps& steps,
                                     OutputAllocator& output);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_FUSED_PIXEL_PASS_H_
