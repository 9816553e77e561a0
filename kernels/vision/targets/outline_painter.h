// `OutlinePainter` paints the pixels that outlines cover (core/outline_bytes.h), by the definition that COCO's masks
// have: a polygon's border is walked on a grid of fifths of a pixel, each crossing of the middle of a column flips what
// is below it, and the parts of an object are joined.
// Threads: one thread at a time.
#ifndef HEADRACE_KERNELS_VISION_TARGETS_OUTLINE_PAINTER_H_
#define HEADRACE_KERNELS_VISION_TARGETS_OUTLINE_PAINTER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/outline_bytes.h"
#include "core/tensor.h"

namespace headrace {

class OutlinePainter {
 public:
  // At least one pixel each way, at most kMaxOutlineSide. `max_pixels`: how many pixels it may look at in all calls of
  // Paint; -1: any number. kResource: there is no memory.
  static absl::StatusOr<OutlinePainter> Make(int64_t height, int64_t width, int64_t max_pixels);

  // Sets the pixels of the image (height × width, row by row) that the outline covers to `value`. Runs must be those of
  // an image of this size, as OutlineReader checks. kData: that is more work than is allowed.
  template <typename Pixel>
  absl::Status Paint(const Outline& outline, Pixel value, Pixel* image);

 private:
  OutlinePainter(int64_t height, int64_t width, int64_t max_pixels, Tensor flips, Tensor state);

  absl::Status Spend(int64_t pixels);

  void FlipAt(int64_t column, int64_t row);
  void FlipAlong(GridPoint from, GridPoint to);
  void FlipAlongWide(GridPoint from, GridPoint to);
  void FlipAlongTall(GridPoint from, GridPoint to);
  absl::Status FlipAround(absl::Span<const GridPoint> polygon);
  void FlipByRuns(absl::Span<const uint64_t> runs);
  // Paints what the flips enclose, and clears them.
  template <typename Pixel>
  absl::Status FillFlipped(Pixel value, Pixel* image);

  int64_t height_;
  int64_t width_;
  int64_t max_pixels_;
  int64_t spent_ = 0;
  // Whether a pixel differs from the one above it, or the first of a column from the last of the column before: one row
  // more than the image, for crossings below it.
  Tensor flips_;
  // Of each column, whether the current row is covered.
  Tensor state_;
  // Columns with flips, from the first on to before the end.
  int64_t first_column_;
  int64_t end_column_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_TARGETS_OUTLINE_PAINTER_H_
