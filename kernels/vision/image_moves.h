// Where the pixels of an image go: cuts, resizing and mirror images, listed before any pixel is read. Each
// GeometricKernel adds to the list; alone it is carried out at once, in a run of kernels the lists are joined, so that
// a decoder is asked for no more than what the first of them cuts out. Plain values; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_MOVES_H_
#define HEADRACE_KERNELS_VISION_IMAGE_MOVES_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/output_allocator.h"
#include "kernels/vision/image.h"
#include "kernels/vision/resize.h"
#include "kernels/vision/window.h"

namespace headrace {

struct ImageMove {
  enum class Kind { kCut, kResize, kFlipLeftRight, kFlipTopBottom } kind = Kind::kCut;
  // Of the image as the moves before leave it; of a resizing: the part of the result that is kept.
  Window window = {};
  Border border = Border::kConstant;
  absl::Span<const ir::Number> fill = {};  // the kernel's own
  int64_t height = 0;                      // of the whole resized image
  int64_t width = 0;
  Resizing resizing = {};
};

class MovePlan {
 public:
  // Of an image of this size.
  MovePlan(int64_t height, int64_t width) : source_{0, 0, height, width}, height_(height), width_(width) {}

  // As the moves so far leave it.
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

  // Whether an image of this size, for which the plan was made, stays as it is.
  bool Keeps(int64_t height, int64_t width) const;

  // What lies beyond the image is filled by the border's rule; `fill` must live as long as the plan.
  void Cut(const Window& window, Border border, absl::Span<const ir::Number> fill);
  void Resize(int64_t height, int64_t width, Resizing resizing);
  void FlipLeftRight() { Flip(ImageMove::Kind::kFlipLeftRight); }
  void FlipTopBottom() { Flip(ImageMove::Kind::kFlipTopBottom); }

  // Takes the last mirror images off, for whoever writes the pixels can do them on the way.
  struct Flips {
    bool left_right = false;
    bool top_bottom = false;
  };
  Flips TakeLastFlips();

  // What the moves stand on: cuts that come before all others move nothing, they only say what to look at.
  const Window& source() const { return source_; }
  // The part of the image that is read at all; inside `source()`.
  Window Needed() const;
  absl::Span<const ImageMove> moves() const { return moves_; }

 private:
  void Flip(ImageMove::Kind kind);

  Window source_;
  int64_t height_;
  int64_t width_;
  absl::InlinedVector<ImageMove, 4> moves_;
};

// Carries out the plan on the part `held` of the image for which it was made; `image` is that part, and holds what is
// needed: `needed` is plan.Needed(). May give a view; else the result is allocated by `output`.
absl::StatusOr<Image> Moved(const Image& image, const Window& held, const Window& needed, const MovePlan& plan,
                            OutputAllocator& output);

// The image as a tensor: a view, unless that would keep much more alive than it shows; then a copy made by `output`.
absl::StatusOr<Tensor> TensorOf(const Image& image, OutputAllocator& output);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_MOVES_H_
