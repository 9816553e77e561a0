#include "kernels/vision/geometry/canvas_target.h"

#include <algorithm>
#include <array>
#include <utility>

namespace headrace {
namespace {

// The map of the plane that undoes `map`.
std::array<double, 9> Inverted(const PlaneMap& map) {
  const auto& m = map.m;
  const double g = map.projective ? m[6] : 0;
  const double h = map.projective ? m[7] : 0;
  return {m[4] - m[5] * h,     m[2] * h - m[1],     m[1] * m[5] - m[2] * m[4],
          m[5] * g - m[3],     m[0] - m[2] * g,     m[2] * m[3] - m[0] * m[5],
          m[3] * h - m[4] * g, m[1] * g - m[0] * h, m[0] * m[4] - m[1] * m[3]};
}

}  // namespace

void CanvasTarget::Follow(const MovePlan& plan) {
  const Window& source = plan.source();
  const bool whole = source.height == height_ && source.width == width_;
  const bool cuts_later = std::any_of(plan.moves().begin(), plan.moves().end(),
                                      [](const ImageMove& move) { return move.kind == ImageMove::Kind::kCut; });
  // A cut that keeps all clamps, too.
  if (!whole || (plan.cuts() && !cuts_later)) Cut(source);
  for (const ImageMove& move : plan.moves()) {
    switch (move.kind) {
      case ImageMove::Kind::kCut:
        Cut(move.window);
        break;
      case ImageMove::Kind::kResize:
        Resize(move.height, move.width);
        if (move.window.height != move.height || move.window.width != move.width) Cut(move.window);
        break;
      case ImageMove::Kind::kFlipLeftRight:
        Flip(kAcross);
        break;
      case ImageMove::Kind::kFlipTopBottom:
        Flip(kDown);
        break;
    }
  }
}

void CanvasTarget::Cut(const Window& window) {
  const PlanePoint begin = {static_cast<double>(window.left), static_cast<double>(window.top)};
  ChangePoints([&begin](PlanePoint& point) { point = {point[0] - begin[0], point[1] - begin[1]}; });
  height_ = window.height;
  width_ = window.width;
  Clamp();
}

void CanvasTarget::Resize(int64_t height, int64_t width) {
  // Multiplies first, so that what ends with the canvas still does.
  const auto scaled = [](double at, int64_t to, int64_t from) {
    return at * static_cast<double>(to) / static_cast<double>(from);
  };
  ChangePoints(
      [&](PlanePoint& point) { point = {scaled(point[0], width, width_), scaled(point[1], height, height_)}; });
  height_ = height;
  width_ = width;
}

void CanvasTarget::Flip(Axis axis) {
  const auto from = static_cast<double>(FlipsFrom(axis == kAcross ? width_ : height_));
  ChangePoints([&](PlanePoint& point) { point[axis] = from - point[axis]; });
  Reorder(axis);
}

void CanvasTarget::Turn(int quarters) {
  const auto width = static_cast<double>(width_);
  const auto height = static_cast<double>(height_);
  // At once: what is subtracted twice is not what it was.
  ChangePoints([&](PlanePoint& point) {
    const auto [x, y] = point;
    if (quarters == 1) point = {y, width - x};
    if (quarters == 2) point = {width - x, height - y};
    if (quarters == 3) point = {height - y, x};
  });
  if (quarters == 1 || quarters == 2) Reorder(kDown);
  if (quarters == 2 || quarters == 3) Reorder(kAcross);
  if (quarters % 2 == 1) std::swap(height_, width_);
  // As a turn by any other angle.
  Clamp();
}

void CanvasTarget::Warp(const PlaneMap& map, int64_t height, int64_t width) {
  const std::array<double, 9> to = Inverted(map);
  WarpPoints([&to](PlanePoint& point) {
    const auto [x, y] = point;
    const double by = to[6] * x + to[7] * y + to[8];
    point = {(to[0] * x + to[1] * y + to[2]) / by, (to[3] * x + to[4] * y + to[5]) / by};
  });
  height_ = height;
  width_ = width;
  Clamp();
}

void CanvasTarget::Displace(const DisplacementField& field) {
  // Also of what is no number.
  const auto nearest = [this](double at, int64_t side) -> int64_t {
    const double pixel = PixelAt(at);
    return pixel > 0 ? static_cast<int64_t>(std::min(pixel, static_cast<double>(side - 1))) : 0;
  };
  WarpPoints([&](PlanePoint& point) {
    const int64_t pixel = nearest(point[1], height_) * width_ + nearest(point[0], width_);
    point = {point[0] - field.x[pixel], point[1] - field.y[pixel]};
  });
  Clamp();
}

}  // namespace headrace
