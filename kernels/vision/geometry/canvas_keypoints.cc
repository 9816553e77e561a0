#include "kernels/vision/geometry/canvas_keypoints.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "kernels/vision/geometry/canvas_numbers.h"

namespace headrace {
namespace {

constexpr int64_t kCanvasKeypointsNumbers = 2;

absl::Status NoKeypoints(const std::string& type) {
  return GraphError("needs keypoints, float32, float64 or int64 of shape (n, 2) or (n, k, 2); got ", type);
}

// Whether a tensor of this shape, some sizes of which may be unknown, can hold groups of one point at least.
bool HoldsPoints(absl::Span<const int64_t> shape) {
  if (shape.size() < 2 || (shape.back() != kCanvasKeypointsNumbers && shape.back() != ir::kUnknownDim)) return false;
  const absl::Span<const int64_t> of_group = shape.subspan(1);
  return std::find(of_group.begin(), of_group.end(), 0) == of_group.end();
}

absl::StatusOr<std::vector<PlanePoint>> PointsOf(const Tensor& tensor) {
  if (!HoldsCanvasNumbers(tensor.dtype()) || !HoldsPoints(tensor.shape())) return NoKeypoints(tensor.TypeName());
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<double> numbers, CanvasNumbersOf(tensor));
  std::vector<PlanePoint> points;
  for (size_t i = 0; i < numbers.size(); i += kCanvasKeypointsNumbers) points.push_back({numbers[i], numbers[i + 1]});
  return points;
}

}  // namespace

absl::StatusOr<ir::ColumnType> KeypointsType(const ir::ColumnType& type, int64_t more) {
  const bool unknown = type.dtype == DType::kUnknown && type.fields.empty();
  if ((!unknown && !HoldsCanvasNumbers(type.dtype)) || (type.shape && !HoldsPoints(*type.shape))) {
    return NoKeypoints(ir::TypeName(type));
  }
  if (!type.shape) return ir::ColumnType::AnyShape(type.dtype);
  Shape shape = *type.shape;
  if (shape[0] != ir::kUnknownDim) shape[0] += more;
  shape.back() = kCanvasKeypointsNumbers;
  return ir::ColumnType::Of(type.dtype, shape);
}

CanvasKeypoints::CanvasKeypoints(const Tensor& tensor, std::vector<PlanePoint> points, int64_t height, int64_t width)
    : CanvasTarget(tensor.dtype(), height, width), points_(std::move(points)), shape_(tensor.shape()), of_group_(1) {
  for (int axis = 1; axis + 1 < tensor.rank(); ++axis) of_group_ *= static_cast<size_t>(tensor.dim(axis));
}

absl::StatusOr<CanvasKeypoints> CanvasKeypoints::Of(const Tensor& tensor) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<PlanePoint> points, PointsOf(tensor));
  if (points.empty()) {
    return GraphError("needs keypoints on a canvas, as hr.keypoints makes them; got ", tensor.TypeName());
  }
  const PlanePoint canvas = points.back();
  CanvasKeypoints placed(tensor, std::move(points), WholeCanvasNumber(canvas[1]), WholeCanvasNumber(canvas[0]));
  placed.points_.resize(placed.points_.size() - placed.of_group_);
  return placed;
}

absl::StatusOr<CanvasKeypoints> CanvasKeypoints::Placed(const Tensor& tensor, int64_t height, int64_t width) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<PlanePoint> points, PointsOf(tensor));
  return CanvasKeypoints(tensor, std::move(points), height, width);
}

absl::StatusOr<Tensor> CanvasKeypoints::ToTensor(OutputAllocator& output) const {
  std::vector<double> numbers;
  for (const PlanePoint& point : points_) numbers.insert(numbers.end(), point.begin(), point.end());
  for (size_t i = 0; i < of_group_; ++i) {
    numbers.insert(numbers.end(), {static_cast<double>(width()), static_cast<double>(height())});
  }
  Shape shape = shape_;
  shape[0] = static_cast<int64_t>(groups()) + 1;
  return TensorOfCanvasNumbers(numbers, dtype(), shape, output);
}

std::vector<bool> CanvasKeypoints::Inside() const {
  const PlanePoint end = {static_cast<double>(width()), static_cast<double>(height())};
  std::vector<bool> inside(groups(), true);
  for (size_t i = 0; i < points_.size(); ++i) {
    const auto [x, y] = points_[i];
    if (!(x >= 0 && y >= 0 && x < end[0] && y < end[1])) inside[i / of_group_] = false;
  }
  return inside;
}

void CanvasKeypoints::Keep(const std::vector<bool>& keep) {
  std::vector<PlanePoint> kept;
  for (size_t i = 0; i < points_.size(); ++i) {
    if (keep[i / of_group_]) kept.push_back(points_[i]);
  }
  points_ = std::move(kept);
}

void CanvasKeypoints::ClampToPixels() {
  const PlanePoint last = {static_cast<double>(width() - 1), static_cast<double>(height() - 1)};
  for (PlanePoint& point : points_) {
    point = {std::clamp(point[0], 0.0, last[0]), std::clamp(point[1], 0.0, last[1])};
  }
}

void CanvasKeypoints::ChangePoints(ChangePoint change) {
  for (PlanePoint& point : points_) change(point);
}

}  // namespace headrace
