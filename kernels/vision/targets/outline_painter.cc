#include "kernels/vision/targets/outline_painter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

// The border of column x lies between 5 x + 2 and the next step of the grid.
constexpr int64_t kBorder = 2;

int64_t DividedUp(int64_t number, int64_t by) { return number >= 0 ? (number + by - 1) / by : -(-number / by); }
int64_t DividedDown(int64_t number, int64_t by) { return -DividedUp(-number, by); }

struct Columns {
  int64_t first;
  int64_t last;
};
// The columns whose borders lie between two coordinates.
Columns ColumnsBetween(int64_t low, int64_t high, int64_t width) {
  return {std::max<int64_t>(DividedUp(low - kBorder, kOutlineGrid), 0),
          std::min<int64_t>(DividedDown(high - kBorder - 1, kOutlineGrid), width - 1)};
}

}  // namespace

OutlinePainter::OutlinePainter(int64_t height, int64_t width, int64_t max_pixels, Tensor flips, Tensor state)
    : height_(height),
      width_(width),
      max_pixels_(max_pixels),
      flips_(std::move(flips)),
      state_(std::move(state)),
      first_column_(width) {}

absl::StatusOr<OutlinePainter> OutlinePainter::Make(int64_t height, int64_t width, int64_t max_pixels) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor flips, Tensor::Allocate(DType::kUInt8, {height + 1, width}));
  HEADRACE_ASSIGN_OR_RETURN(Tensor state, Tensor::Allocate(DType::kUInt8, {width}));
  std::memset(flips.mutable_raw(), 0, flips.bytes());
  return OutlinePainter(height, width, max_pixels, std::move(flips), std::move(state));
}

absl::Status OutlinePainter::Spend(int64_t pixels) {
  spent_ += pixels;
  if (max_pixels_ < 0 || spent_ <= max_pixels_) return absl::OkStatus();
  return DataError("the outlines go over more pixels than max_pixels = ", max_pixels_,
                   "; if that is meant, raise it, or give -1 for no limit");
}

void OutlinePainter::FlipAt(int64_t column, int64_t row) {
  flips_.mutable_raw()[row * width_ + column] ^= 1;
  first_column_ = std::min(first_column_, column);
  end_column_ = std::max(end_column_, column + 1);
}

// Goes right by steps of the grid; the height of each is rounded.
void OutlinePainter::FlipAlongWide(GridPoint from, GridPoint to) {
  if (from.x > to.x) std::swap(from, to);
  const double slope = static_cast<double>(to.y - from.y) / (to.x - from.x);
  const auto y_at = [&](int64_t step) {
    return static_cast<int64_t>(from.y + slope * static_cast<double>(step) + 0.5);
  };
  const Columns columns = ColumnsBetween(from.x, to.x, width_);
  for (int64_t column = columns.first; column <= columns.last; ++column) {
    const int64_t step = kOutlineGrid * column + kBorder - from.x;
    const int64_t y = std::min(y_at(step), y_at(step + 1));
    FlipAt(column, std::clamp<int64_t>(DividedUp(y - kBorder, kOutlineGrid), 0, height_));
  }
}

// Goes down by steps of the grid; their places across are rounded, and so a border is crossed by one of them.
void OutlinePainter::FlipAlongTall(GridPoint from, GridPoint to) {
  if (from.y > to.y) std::swap(from, to);
  const int64_t steps = to.y - from.y;
  const double slope = static_cast<double>(to.x - from.x) / static_cast<double>(steps);
  const Columns columns = ColumnsBetween(std::min(from.x, to.x), std::max(from.x, to.x), width_);
  for (int64_t column = columns.first; column <= columns.last; ++column) {
    const int64_t border = kOutlineGrid * column + kBorder;
    const auto is_beyond = [&](int64_t step) {
      const auto x = static_cast<int64_t>(from.x + slope * static_cast<double>(step) + 0.5);
      return slope > 0 ? x > border : x <= border;
    };
    auto step = static_cast<int64_t>(std::ceil((static_cast<double>(border - from.x) + 0.5) / slope));
    step = std::clamp<int64_t>(step, 1, steps);
    // The rounding of the division is within a step of that of the walk.
    while (step > 1 && is_beyond(step - 1)) --step;
    while (step < steps && !is_beyond(step)) ++step;
    const int64_t y = from.y + step - 1;
    FlipAt(column, std::clamp<int64_t>(DividedUp(y - kBorder, kOutlineGrid), 0, height_));
  }
}

void OutlinePainter::FlipAlong(GridPoint from, GridPoint to) {
  if (from.x == to.x) return;
  if (std::abs(to.x - from.x) >= std::abs(to.y - from.y)) {
    FlipAlongWide(from, to);
  } else {
    FlipAlongTall(from, to);
  }
}

absl::Status OutlinePainter::FlipAround(absl::Span<const GridPoint> polygon) {
  for (size_t i = 0; i < polygon.size(); ++i) {
    const GridPoint from = polygon[i];
    const GridPoint to = polygon[i + 1 == polygon.size() ? 0 : i + 1];
    HEADRACE_RETURN_IF_ERROR(Spend(std::min<int64_t>(std::abs(to.x - from.x) / kOutlineGrid, width_)));
    FlipAlong(from, to);
  }
  return absl::OkStatus();
}

void OutlinePainter::FlipByRuns(absl::Span<const uint64_t> runs) {
  const auto pixels = static_cast<uint64_t>(height_ * width_);
  uint64_t at = 0;
  for (const uint64_t run : runs) {
    at += run;
    if (at >= pixels) return;
    FlipAt(static_cast<int64_t>(at) / height_, static_cast<int64_t>(at) % height_);
  }
  // What is left after the last run is outside.
  if (runs.size() % 2 == 1) FlipAt(static_cast<int64_t>(at) / height_, static_cast<int64_t>(at) % height_);
}

template <typename Pixel>
absl::Status OutlinePainter::FillFlipped(Pixel value, Pixel* image) {
  if (first_column_ >= end_column_) return absl::OkStatus();
  HEADRACE_RETURN_IF_ERROR(Spend((end_column_ - first_column_) * height_));
  uint8_t* const flips = flips_.mutable_raw();
  uint8_t* const state = state_.mutable_raw();
  const int64_t first = first_column_;
  // What is covered before each column begins: the flips of all columns before it.
  std::memset(state + first, 0, static_cast<size_t>(width_ - first));
  for (int64_t row = 0; row <= height_; ++row) {
    for (int64_t x = first; x < end_column_; ++x) state[x] ^= flips[row * width_ + x];
  }
  uint8_t covered = 0;
  for (int64_t x = first; x < end_column_; ++x) covered ^= std::exchange(state[x], covered);
  if (covered != 0) {
    HEADRACE_RETURN_IF_ERROR(Spend((width_ - end_column_) * height_));
    std::memset(state + end_column_, 1, static_cast<size_t>(width_ - end_column_));
  }
  const int64_t end = covered != 0 ? width_ : end_column_;
  for (int64_t row = 0; row < height_; ++row) {
    uint8_t* const flip = flips + row * width_;
    Pixel* const pixels = image + row * width_;
    for (int64_t x = first; x < end; ++x) {
      state[x] ^= flip[x];
      pixels[x] = state[x] != 0 ? value : pixels[x];
    }
    std::memset(flip + first, 0, static_cast<size_t>(end_column_ - first));
  }
  std::memset(flips + height_ * width_ + first, 0, static_cast<size_t>(end_column_ - first));
  first_column_ = width_;
  end_column_ = 0;
  return absl::OkStatus();
}

template <typename Pixel>
absl::Status OutlinePainter::Paint(const Outline& outline, Pixel value, Pixel* image) {
  if (outline.by_runs) {
    FlipByRuns(outline.runs);
    return FillFlipped(value, image);
  }
  size_t at = 0;
  for (const size_t end : outline.part_ends) {
    HEADRACE_RETURN_IF_ERROR(FlipAround(absl::MakeConstSpan(outline.points).subspan(at, end - at)));
    HEADRACE_RETURN_IF_ERROR(FillFlipped(value, image));
    at = end;
  }
  return absl::OkStatus();
}

template absl::Status OutlinePainter::Paint(const Outline&, uint8_t, uint8_t*);
template absl::Status OutlinePainter::Paint(const Outline&, int32_t, int32_t*);
template absl::Status OutlinePainter::Paint(const Outline&, int64_t, int64_t*);

}  // namespace headrace
