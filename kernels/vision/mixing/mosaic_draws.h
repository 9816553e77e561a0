// `RowMosaic` says how the image of one row is joined of four images of its batch: which meet, and at which point.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_MIXING_MOSAIC_DRAWS_H_
#define HEADRACE_KERNELS_VISION_MIXING_MOSAIC_DRAWS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/philox.h"
#include "kernels/vision/image/resized_crop_box.h"
#include "kernels/vision/image/window.h"

namespace headrace {

struct RowMosaic {
  static constexpr int kTiles = 4;

  // The part of the image that tile `tile` of it fills; it may be empty.
  Window WindowOf(int tile, int64_t height, int64_t width) const;
  // Where the left top pixel of the tile's image would be: each image touches the centre with a corner.
  int64_t LeftOf(int tile, int64_t width) const { return tile % 2 == 0 ? x - width : x; }
  int64_t TopOf(int tile, int64_t height) const { return tile < 2 ? y - height : y; }

  bool joined = false;  // else the row stays as it is
  // The rows at the left top, right top, left bottom and right bottom.
  std::array<int64_t, kTiles> rows = {};
  int64_t x = 0;  // the centre, where they meet
  int64_t y = 0;
};

struct MosaicOptions {
  double p = 1;
  Interval centers = {0.2, 0.8};  // as parts of the sides
};

// For each row its mosaic. Rows that are marked in `fillers` (KernelContext) stay as they are, and are in no mosaic;
// the others draw in their order. Each mosaic has its own row and three others, which differ if four rows are not
// marked; where fewer are, each of the three is any of them.
std::vector<RowMosaic> DrawMosaics(int64_t rows, int64_t height, int64_t width, const MosaicOptions& options,
                                   absl::Span<const bool> fillers, RowRandom& random);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_MIXING_MOSAIC_DRAWS_H_
