#include "kernels/vision/pixels/copy_turned.h"

#include <algorithm>
#include <cstring>

#include "kernels/vision/pixels/pixels_of_three.h"
#include "kernels/vision/pixels/reverse_row.h"

namespace headrace {
namespace {

// Pixels on either side of a tile, of which both what is read and what is written stay in the nearest cache.
constexpr int64_t kTile = 32;

// The columns of the result from `begin` up to before `end`.
struct Columns {
  int64_t begin;
  int64_t end;
};

// Of one row; kBytes 0: pixels of any size.
template <int kBytes>
void CopyEach(const uint8_t* start, int64_t step, Columns columns, int64_t pixel_bytes, uint8_t* row) {
  if (kBytes > 0) pixel_bytes = kBytes;
  const uint8_t* pixel = start + columns.begin * step;
  for (int64_t x = columns.begin; x < columns.end; ++x, pixel += step) {
    std::memcpy(row + x * pixel_bytes, pixel, static_cast<size_t>(pixel_bytes));
  }
}

// Pixels of three bytes as words; none is the last one in memory. Returns the first column that is left.
int64_t CopyFours(const uint8_t* start, int64_t step, Columns columns, uint8_t* row) {
  const uint8_t* pixel = start + columns.begin * step;
  int64_t x = columns.begin;
  for (; x + 4 <= columns.end; x += 4, pixel += 4 * step) {
    StoreFourPixels(ThreeBytesAt(pixel), ThreeBytesAt(pixel + step), ThreeBytesAt(pixel + 2 * step),
                    ThreeBytesAt(pixel + 3 * step), row + 3 * x);
  }
  return x;
}

template <int kBytes>
void CopyRow(const uint8_t* start, int64_t step, int64_t width, Columns columns, int64_t pixel_bytes, uint8_t* row) {
  if constexpr (kBytes == 3) {
    // The row that is last in memory is the last column of the result, or its first.
    Columns inner = columns;
    if (step > 0) inner.end = std::min(inner.end, width - 1);
    if (step < 0) inner.begin = std::max<int64_t>(inner.begin, 1);
    CopyEach<3>(start, step, {columns.begin, inner.begin}, 3, row);
    columns.begin = CopyFours(start, step, inner, row);
  }
  CopyEach<kBytes>(start, step, columns, pixel_bytes, row);
}

template <int kBytes>
void CopyTiles(const ReadingOrder& order, int64_t height, int64_t width, int64_t pixel_bytes, uint8_t* target) {
  for (int64_t top = 0; top < height; top += kTile) {
    const int64_t bottom = std::min(top + kTile, height);
    for (int64_t left = 0; left < width; left += kTile) {
      const Columns columns = {left, std::min(left + kTile, width)};
      for (int64_t y = top; y < bottom; ++y) {
        CopyRow<kBytes>(order.start + y * order.row_step, order.column_step, width, columns, pixel_bytes,
                        target + y * width * pixel_bytes);
      }
    }
  }
}

}  // namespace

void CopyTurned(const ReadingOrder& order, int64_t height, int64_t width, int64_t pixel_bytes, uint8_t* target) {
  const int64_t row_bytes = width * pixel_bytes;
  if (order.column_step == pixel_bytes) {
    for (int64_t y = 0; y < height; ++y) {
      std::memcpy(target + y * row_bytes, order.start + y * order.row_step, static_cast<size_t>(row_bytes));
    }
    return;
  }
  if (order.column_step == -pixel_bytes) {
    const uint8_t* const last = order.start - (width - 1) * pixel_bytes;
    for (int64_t y = 0; y < height; ++y) {
      ReverseRow(last + y * order.row_step, width, pixel_bytes, target + y * row_bytes);
    }
    return;
  }
  switch (pixel_bytes) {
    case 1:
      return CopyTiles<1>(order, height, width, pixel_bytes, target);
    case 2:
      return CopyTiles<2>(order, height, width, pixel_bytes, target);
    case 3:
      return CopyTiles<3>(order, height, width, pixel_bytes, target);
    case 4:
      return CopyTiles<4>(order, height, width, pixel_bytes, target);
    case 6:
      return CopyTiles<6>(order, height, width, pixel_bytes, target);
    case 12:
      return CopyTiles<12>(order, height, width, pixel_bytes, target);
    default:
      return CopyTiles<0>(order, height, width, pixel_bytes, target);
  }
}

}  // namespace headrace
