#include "kernels/vision/geometry/affine_map.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "core/error.h"
#include "kernels/vision/pixels/copy_turned.h"

namespace headrace {
namespace {

double Radians(double degrees) { return degrees * (std::numbers::pi / 180); }

// Python's round(value, 15).
double RoundedTo15(double value) {
  char text[64];
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, 15);
  double rounded = value;
  std::from_chars(text, end.ptr, rounded);
  return rounded;
}

PlanePoint Applied(const std::array<double, 8>& m, double x, double y) {
  return {m[0] * x + m[1] * y + m[2], m[3] * x + m[4] * y + m[5]};
}

// The least and the greatest coordinate of the image's corners on an axis.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  int64_t pixels() const { return static_cast<int64_t>(std::ceil(high) - std::floor(low)); }
};

// Turned counter-clockwise by 1, 2 or 3 quarters, without resampling.
absl::StatusOr<Tensor> Turned(const Image& image, int quarters, OutputAllocator& output) {
  const bool upright = quarters % 2 == 0;
  const int64_t height = upright ? image.height : image.width;
  const int64_t width = upright ? image.width : image.height;
  HEADRACE_ASSIGN_OR_RETURN(Tensor result, AllocateLike(image, height, width, output));
  const int64_t pixel = image.pixel_bytes();
  const uint8_t* const right = image.pixels + (image.width - 1) * pixel;
  const int64_t down = (image.height - 1) * image.row_stride;
  const ReadingOrder orders[] = {{right, -pixel, image.row_stride},
                                 {right + down, -image.row_stride, -pixel},
                                 {image.pixels + down, pixel, -image.row_stride}};
  CopyTurned(orders[quarters - 1], height, width, pixel, result.mutable_raw());
  return result;
}

}  // namespace

PlaneMap InverseOf(const AffineParameters& parameters, int64_t height, int64_t width) {
  const double rotation = Radians(parameters.angle);
  const double shear_x = Radians(parameters.shear[0]);
  const double shear_y = Radians(parameters.shear[1]);
  const PlanePoint center =
      parameters.center.value_or(PlanePoint{static_cast<double>(width) * 0.5, static_cast<double>(height) * 0.5});
  // In this order of operations the bits are those of torchvision.transforms.v2.
  const double a = std::cos(rotation - shear_y) / std::cos(shear_y);
  const double b = -(a * std::tan(shear_x) + std::sin(rotation));
  const double c = std::sin(rotation - shear_y) / std::cos(shear_y);
  const double d = std::cos(rotation) - c * std::tan(shear_x);
  PlaneMap map = {.m = {d, -b, 0, -c, a, 0}};
  for (int i = 0; i < 6; ++i) map.m[i] /= parameters.scale;
  const double to_x = center[0] + parameters.translate[0];
  const double to_y = center[1] + parameters.translate[1];
  map.m[2] = center[0] - map.m[0] * to_x - map.m[1] * to_y;
  map.m[5] = center[1] - map.m[3] * to_x - map.m[4] * to_y;
  return map;
}

Turning TurningOf(double angle, bool expand, std::optional<PlanePoint> center, int64_t height, int64_t width) {
  angle = std::fmod(angle, 360);
  if (angle < 0) angle += 360;
  if (!center && (angle == 0 || angle == 180 || ((angle == 90 || angle == 270) && (expand || height == width)))) {
    const int quarters = static_cast<int>(angle / 90);
    if (quarters % 2 == 1) std::swap(height, width);
    return {.quarters = quarters, .height = height, .width = width};
  }
  const auto sides = PlanePoint{static_cast<double>(width), static_cast<double>(height)};
  const PlanePoint middle = center.value_or(PlanePoint{sides[0] / 2, sides[1] / 2});
  const double turn = -Radians(angle);
  PlaneMap map = {.m = {RoundedTo15(std::cos(turn)), RoundedTo15(std::sin(turn)), 0, RoundedTo15(-std::sin(turn)),
                        RoundedTo15(std::cos(turn)), 0}};
  const PlanePoint moved = Applied(map.m, -middle[0], -middle[1]);
  map.m[2] = moved[0] + middle[0];
  map.m[5] = moved[1] + middle[1];
  if (expand) {
    Extent across;
    Extent down;
    for (const double x : {0.0, sides[0]}) {
      for (const double y : {0.0, sides[1]}) {
        const PlanePoint corner = Applied(map.m, x, y);
        across = {std::min(across.low, corner[0]), std::max(across.high, corner[0])};
        down = {std::min(down.low, corner[1]), std::max(down.high, corner[1])};
      }
    }
    const PlanePoint grown = Applied(map.m, -(static_cast<double>(across.pixels()) - sides[0]) / 2.0,
                                     -(static_cast<double>(down.pixels()) - sides[1]) / 2.0);
    map.m[2] = grown[0];
    map.m[5] = grown[1];
    width = across.pixels();
    height = down.pixels();
  }
  return {.whole = false, .map = map, .height = height, .width = width};
}

absl::StatusOr<Tensor> Rotated(const Image& image, const Turning& turning, const WarpOptions& options,
                               OutputAllocator& output) {
  if (!turning.whole) return Warped(image, turning.map, turning.height, turning.width, options, output);
  if (turning.quarters == 0) return image.tensor;
  return Turned(image, turning.quarters, output);
}

absl::StatusOr<PlaneMap> ProjectionOf(const Corners& from, const Corners& to) {
  // Eight equations, the last column being the right side; solved by elimination with pivots.
  std::array<std::array<double, 9>, 8> rows;
  for (size_t i = 0; i < 4; ++i) {
    const auto [x, y] = to[i];
    const auto [u, v] = from[i];
    rows[2 * i] = {x, y, 1, 0, 0, 0, -u * x, -u * y, u};
    rows[2 * i + 1] = {0, 0, 0, x, y, 1, -v * x, -v * y, v};
  }
  for (size_t column = 0; column < 8; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < 8; ++row) {
      if (std::fabs(rows[row][column]) > std::fabs(rows[pivot][column])) pivot = row;
    }
    if (std::fabs(rows[pivot][column]) < 1e-12) {
      return GraphError("three of the four points are on one line, or two are the same");
    }
    std::swap(rows[column], rows[pivot]);
    for (size_t row = 0; row < 8; ++row) {
      if (row == column) continue;
      const double factor = rows[row][column] / rows[column][column];
      for (size_t i = column; i < 9; ++i) rows[row][i] -= factor * rows[column][i];
    }
  }
  PlaneMap map = {.projective = true};
  for (size_t i = 0; i < 8; ++i) map.m[i] = rows[i][8] / rows[i][i];
  return map;
}

}  // namespace headrace
