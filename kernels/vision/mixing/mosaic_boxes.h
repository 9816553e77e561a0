// `MosaicBoxes` finds the boxes of the mosaics of a batch: those of the images in them, moved, cut off at the edges of
// their tiles, and left out where too little is left.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_MIXING_MOSAIC_BOXES_H_
#define HEADRACE_KERNELS_VISION_MIXING_MOSAIC_BOXES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "kernels/vision/geometry/canvas_boxes.h"
#include "kernels/vision/mixing/mosaic_draws.h"

namespace headrace {

// What a box must have left to stay.
struct LeastBox {
  bool Keeps(const Box& whole, const Box& left) const;

  double size = 1;        // of its sides, in pixels
  double visibility = 0;  // of its area: the share
};

struct MosaicBoxes {
  // `boxes` are those of all rows; row i has those from splits[i] to splits[i + 1].
  static MosaicBoxes Of(absl::Span<const RowMosaic> mosaics, int64_t height, int64_t width,
                        const std::vector<Box>& boxes, absl::Span<const int64_t> splits, const LeastBox& least);

  std::vector<Box> boxes;
  std::vector<int64_t> sources;  // for each: the number of the box that it was
  std::vector<int64_t> splits = {0};
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_MIXING_MOSAIC_BOXES_H_
