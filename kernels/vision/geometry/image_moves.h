// `MovePlan` is a plan of cuts, resizings and flips of an image, made before any pixel is read. Each GeometricKernel
// adds to the plan. A kernel alone carries its plan out at once; a run of kernels joins the plans, so that a decoder
// has to decode no more than the first cuts keep.
// Threads: plain values; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_IMAGE_MOVES_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_IMAGE_MOVES_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/output_allocator.h"
#include "kernels/vision/geometry/resize.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/image/window.h"

namespace headrace {

struct ImageMove {
  enum class Kind { kCut, kResize, kFlipLeftRight, kFlipTopBottom } kind = Kind::kCut;
  // On the image after the earlier moves; for a resizing: the part of the result that is kept.
  Window window = {};
  Border border = Border::kConstant;
  absl::Span<const ir::Number> fill = {};  // owned by the kernel
  int64_t height = 0;                      // of the whole resized image
  int64_t width = 0;
  Resizing resizing = {};
};

class MovePlan {
 public:
  // For an image of this size.
  MovePlan(int64_t height, int64_t width) : source_{0, 0, height, width}, height_(height), width_(width) {}

  // After the moves so far.
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

  // Whether any cut was added, even one that keeps all of the image.
  bool cuts() const { return cuts_; }
  // Whether the plan leaves an image of this size, for which it was made, unchanged.
  bool Keeps(int64_t height, int64_t width) const;

  // Pixels beyond the image are filled by the border's rule; `fill` must outlive the plan.
  void Cut(const Window& window, Border border, absl::Span<const ir::Number> fill);
  void Resize(int64_t height, int64_t width, Resizing resizing);
  void FlipLeftRight() { Flip(ImageMove::Kind::kFlipLeftRight); }
  void FlipTopBottom() { Flip(ImageMove::Kind::kFlipTopBottom); }

  // For a kernel that adds no pixels to this image: a fill that does not fit is still refused, so that errors do not
  // depend on draws. `fill` must outlive the plan.
  void Require(absl::Span<const ir::Number> fill) { required_.push_back(fill); }
  bool requires_fills() const { return !required_.empty(); }
  // kGraph if a required fill does not fit the image.
  absl::Status CheckFills(const Image& image) const;

  // Removes the last flips, because the writer of the pixels can do them on the way.
  struct Flips {
    bool left_right = false;
    bool top_bottom = false;
  };
  Flips TakeLastFlips();

  // The window of the first moves: cuts before all other moves only choose the part to read.
  const Window& source() const { return source_; }
  // The part of the image that is actually read; inside `source()`.
  Window Needed() const;
  absl::Span<const ImageMove> moves() const { return moves_; }

 private:
  void Flip(ImageMove::Kind kind);

  Window source_;
  int64_t height_;
  int64_t width_;
  bool cuts_ = false;
  absl::InlinedVector<ImageMove, 4> moves_;
  absl::InlinedVector<absl::Span<const ir::Number>, 1> required_;
};

// Carries out the plan. `image` is the part `held` of the planned image, and contains `needed`, which is plan.Needed().
// May return a view; otherwise the result is allocated by `output`.
absl::StatusOr<Image> Moved(const Image& image, const Window& held, const Window& needed, const MovePlan& plan,
                            OutputAllocator& output);

// The image as a tensor: a view, unless that would keep much more memory alive than it needs; then a copy made by
// `output`.
absl::StatusOr<Tensor> TensorOf(const Image& image, OutputAllocator& output);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_IMAGE_MOVES_H_
