#include "kernels/vision/geometry/image_moves.h"

#include <utility>

#include "core/error.h"
#include "kernels/vision/geometry/flip.h"

namespace headrace {
namespace {

// A view of a part keeps the whole image alive; the image may be this many times as large.
constexpr size_t kKeptAlive = 4;

bool Inside(const Window& window, int64_t height, int64_t width) {
  return window.top >= 0 && window.left >= 0 && window.top + window.height <= height &&
         window.left + window.width <= width;
}

// The window `inner`, relative to `outer`, in the coordinates of `outer`.
Window Within(const Window& outer, const Window& inner) {
  return {outer.top + inner.top, outer.left + inner.left, inner.height, inner.width};
}

bool Whole(const ImageMove& resize) {
  return resize.window.height == resize.height && resize.window.width == resize.width;
}

absl::StatusOr<Image> ImageFrom(absl::StatusOr<Tensor> tensor) {
  if (!tensor.ok()) return std::move(tensor).status();
  return ImageOf(*tensor, PixelTypes::kFixedSize);
}

absl::StatusOr<Image> MovedOnce(const Image& image, const ImageMove& move, OutputAllocator& output) {
  switch (move.kind) {
    case ImageMove::Kind::kCut:
      if (Inside(move.window, image.height, image.width)) {
        return Cropped(image, move.window.top, move.window.left, move.window.height, move.window.width);
      }
      return ImageFrom(Windowed(image, move.window, move.border, move.fill, output));
    case ImageMove::Kind::kResize:
      return ImageFrom(Resized({image, {0, 0}, image.height, image.width}, move.height, move.width, move.window,
                               move.resizing, output));
    case ImageMove::Kind::kFlipLeftRight:
      return ImageFrom(FlippedLeftRight(image, output));
    case ImageMove::Kind::kFlipTopBottom:
      return ImageFrom(FlippedTopBottom(image, output));
  }
  return InternalError("a move without a name");
}

}  // namespace

bool MovePlan::Keeps(int64_t height, int64_t width) const {
  return moves_.empty() && source_.height == height && source_.width == width;
}

absl::Status MovePlan::CheckFills(const Image& image) const {
  for (const absl::Span<const ir::Number> fill : required_) {
    HEADRACE_RETURN_IF_ERROR(PixelOf("fill", fill, image).status());
  }
  return absl::OkStatus();
}

void MovePlan::Cut(const Window& window, Border border, absl::Span<const ir::Number> fill) {
  cuts_ = true;
  const bool inside = Inside(window, height_, width_);
  if (inside && window.height == height_ && window.width == width_) return;
  height_ = window.height;
  width_ = window.width;
  if (inside && moves_.empty()) {
    source_ = Within(source_, window);
    return;
  }
  if (inside && moves_.back().kind == ImageMove::Kind::kResize && moves_.back().resizing.CanGivePart()) {
    moves_.back().window = Within(moves_.back().window, window);
    return;
  }
  moves_.push_back({.kind = ImageMove::Kind::kCut, .window = window, .border = border, .fill = fill});
}

void MovePlan::Resize(int64_t height, int64_t width, Resizing resizing) {
  if (height == height_ && width == width_) return;
  height_ = height;
  width_ = width;
  moves_.push_back({.kind = ImageMove::Kind::kResize,
                    .window = {0, 0, height, width},
                    .height = height,
                    .width = width,
                    .resizing = resizing});
}

void MovePlan::Flip(ImageMove::Kind kind) {
  if (!moves_.empty() && moves_.back().kind == kind) {
    moves_.pop_back();
  } else {
    moves_.push_back({.kind = kind});
  }
}

MovePlan::Flips MovePlan::TakeLastFlips() {
  Flips flips;
  for (; !moves_.empty(); moves_.pop_back()) {
    if (moves_.back().kind == ImageMove::Kind::kFlipLeftRight) {
      flips.left_right = !flips.left_right;
    } else if (moves_.back().kind == ImageMove::Kind::kFlipTopBottom) {
      flips.top_bottom = !flips.top_bottom;
    } else {
      break;
    }
  }
  return flips;
}

Window MovePlan::Needed() const {
  if (moves_.empty() || moves_[0].kind != ImageMove::Kind::kResize || Whole(moves_[0])) return source_;
  const ImageMove& resize = moves_[0];
  return Within(source_, NeededToResize(source_.height, source_.width, resize.height, resize.width, resize.window,
                                        resize.resizing));
}

absl::StatusOr<Image> Moved(const Image& image, const Window& held, const Window& needed, const MovePlan& plan,
                            OutputAllocator& output) {
  OutputAllocator intermediate;
  Image moved = Cropped(image, needed.top - held.top, needed.left - held.left, needed.height, needed.width);
  absl::Span<const ImageMove> moves = plan.moves();
  const auto allocator = [&]() -> OutputAllocator& { return moves.size() == 1 ? output : intermediate; };
  const Window& source = plan.source();
  if (needed.height != source.height || needed.width != source.width) {
    // Resizes from a part of the source.
    const PartOffset offset = {needed.top - source.top, needed.left - source.left};
    HEADRACE_ASSIGN_OR_RETURN(
        moved, ImageFrom(Resized({moved, offset, source.height, source.width}, moves[0].height, moves[0].width,
                                 moves[0].window, moves[0].resizing, allocator())));
    moves.remove_prefix(1);
  }
  for (; !moves.empty(); moves.remove_prefix(1)) {
    HEADRACE_ASSIGN_OR_RETURN(moved, MovedOnce(moved, moves[0], allocator()));
  }
  return moved;
}

absl::StatusOr<Tensor> TensorOf(const Image& image, OutputAllocator& output) {
  const Tensor& whole = image.tensor;
  if (whole.dim(0) == image.height && whole.dim(1) == image.width) return whole;
  const int64_t offset = image.pixels - whole.raw();
  const int64_t top = offset / image.row_stride;
  const int64_t left = offset % image.row_stride / image.pixel_bytes();
  const Tensor view = whole.Slice(0, top, image.height).Slice(1, left, image.width);
  if (view.bytes() * kKeptAlive >= whole.footprint()) return view;
  HEADRACE_ASSIGN_OR_RETURN(Tensor copy, output.Allocate(view.dtype(), view.shape()));
  view.CopyTo(copy.mutable_raw());
  return copy;
}

}  // namespace headrace
