#include "kernels/vision/mixing/mosaic_boxes.h"

#include <algorithm>

namespace headrace {
namespace {

double AreaOf(const Box& box) { return (box.right - box.left) * (box.bottom - box.top); }

// Not a number stays what it is.
double Within(double at, int64_t first, int64_t size) {
  return std::min(std::max(at, static_cast<double>(first)), static_cast<double>(first + size));
}

Box Cut(const Box& box, const Window& window) {
  return {Within(box.left, window.left, window.width), Within(box.top, window.top, window.height),
          Within(box.right, window.left, window.width), Within(box.bottom, window.top, window.height)};
}

}  // namespace

bool LeastBox::Keeps(const Box& whole, const Box& left) const {
  const double across = left.right - left.left;
  const double down = left.bottom - left.top;
  return across > 0 && down > 0 && across >= size && down >= size && AreaOf(left) >= visibility * AreaOf(whole);
}

MosaicBoxes MosaicBoxes::Of(absl::Span<const RowMosaic> mosaics, int64_t height, int64_t width,
                            const std::vector<Box>& boxes, absl::Span<const int64_t> splits, const LeastBox& least) {
  MosaicBoxes found;
  const auto add = [&](int64_t source, const Box& box) {
    found.boxes.push_back(box);
    found.sources.push_back(source);
  };
  for (size_t row = 0; row < mosaics.size(); ++row) {
    const RowMosaic& mosaic = mosaics[row];
    if (!mosaic.joined) {
      for (int64_t i = splits[row]; i < splits[row + 1]; ++i) add(i, boxes[static_cast<size_t>(i)]);
    }
    for (int tile = 0; mosaic.joined && tile < RowMosaic::kTiles; ++tile) {
      const auto of = static_cast<size_t>(mosaic.rows[static_cast<size_t>(tile)]);
      const Window window = mosaic.WindowOf(tile, height, width);
      const auto right = static_cast<double>(mosaic.LeftOf(tile, width));
      const auto down = static_cast<double>(mosaic.TopOf(tile, height));
      for (int64_t i = splits[of]; i < splits[of + 1]; ++i) {
        const Box& whole = boxes[static_cast<size_t>(i)];
        const Box moved = {whole.left + right, whole.top + down, whole.right + right, whole.bottom + down};
        const Box left = Cut(moved, window);
        if (least.Keeps(whole, left)) add(i, left);
      }
    }
    found.splits.push_back(static_cast<int64_t>(found.boxes.size()));
  }
  return found;
}

}  // namespace headrace
