#include "kernels/vision/geometry/canvas_boxes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "kernels/vision/geometry/canvas_numbers.h"

namespace headrace {
namespace {

constexpr int64_t kCanvasBoxesNumbers = 4;
// First in the row of the canvas, where boxes are in halves.
constexpr double kInHalves = 1;

Box ScaledBox(const Box& box, double by) { return {box.left * by, box.top * by, box.right * by, box.bottom * by}; }

}  // namespace

absl::StatusOr<std::vector<Box>> RowsOfFour(const Tensor& tensor) {
  if (!HoldsCanvasNumbers(tensor.dtype()) || tensor.rank() != 2 || tensor.dim(1) != kCanvasBoxesNumbers) {
    return GraphError("needs boxes, float32, float64 or int64 of shape (n, 4); got ", tensor.TypeName());
  }
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<double> numbers, CanvasNumbersOf(tensor));
  std::vector<Box> rows;
  for (size_t i = 0; i < numbers.size(); i += kCanvasBoxesNumbers) {
    rows.push_back({numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]});
  }
  return rows;
}

absl::StatusOr<Tensor> TensorOfRows(const std::vector<Box>& rows, DType dtype, OutputAllocator& output) {
  std::vector<double> numbers;
  for (const Box& row : rows) numbers.insert(numbers.end(), {row.left, row.top, row.right, row.bottom});
  return TensorOfCanvasNumbers(numbers, dtype, {static_cast<int64_t>(rows.size()), kCanvasBoxesNumbers}, output);
}

absl::StatusOr<ir::ColumnType> RowsOfFourType(const ir::ColumnType& type, int64_t more) {
  const bool unknown = type.dtype == DType::kUnknown && type.fields.empty();
  const bool fits = !type.shape || (type.shape->size() == 2 &&
                                    ((*type.shape)[1] == kCanvasBoxesNumbers || (*type.shape)[1] == ir::kUnknownDim));
  if ((!unknown && !HoldsCanvasNumbers(type.dtype)) || !fits) {
    return GraphError("needs boxes, float32, float64 or int64 of shape (n, 4); got ", ir::TypeName(type));
  }
  const int64_t rows = type.shape ? (*type.shape)[0] : ir::kUnknownDim;
  return ir::ColumnType::Of(type.dtype, {rows == ir::kUnknownDim ? rows : rows + more, kCanvasBoxesNumbers});
}

absl::StatusOr<CanvasBoxes> CanvasBoxes::Of(const Tensor& tensor) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<Box> rows, RowsOfFour(tensor));
  if (rows.empty()) return GraphError("needs boxes on a canvas, as hr.boxes makes them; got ", tensor.TypeName());
  const Box canvas = rows.back();
  rows.pop_back();
  const Unit unit = tensor.dtype() == DType::kInt64 && canvas.left == kInHalves ? Unit::kHalves : Unit::kPixels;
  if (unit == Unit::kHalves) {
    for (Box& row : rows) row = ScaledBox(row, 0.5);
  }
  return CanvasBoxes(tensor.dtype(), std::move(rows), WholeCanvasNumber(canvas.bottom), WholeCanvasNumber(canvas.right),
                     unit);
}

absl::StatusOr<Tensor> CanvasBoxes::ToTensor(OutputAllocator& output) const {
  std::vector<Box> rows = boxes_;
  if (unit_ == Unit::kHalves) {
    for (Box& row : rows) row = ScaledBox(row, 2);
  }
  const double first = unit_ == Unit::kHalves ? kInHalves : 0;
  rows.push_back({first, 0, static_cast<double>(width()), static_cast<double>(height())});
  return TensorOfRows(rows, dtype(), output);
}

void CanvasBoxes::ChangePoints(ChangePoint change) {
  for (Box& box : boxes_) {
    PlanePoint first = {box.left, box.top};
    PlanePoint last = {box.right, box.bottom};
    change(first);
    change(last);
    box = {first[0], first[1], last[0], last[1]};
  }
}

void CanvasBoxes::WarpPoints(ChangePoint change) {
  for (Box& box : boxes_) {
    std::array<double, 4> across;
    std::array<double, 4> down;
    size_t corner = 0;
    for (const double x : {box.left, box.right}) {
      for (const double y : {box.top, box.bottom}) {
        PlanePoint point = {x, y};
        change(point);
        across[corner] = point[0];
        down[corner] = point[1];
        ++corner;
      }
    }
    const auto [left, right] = std::minmax_element(across.begin(), across.end());
    const auto [top, bottom] = std::minmax_element(down.begin(), down.end());
    box = {*left, *top, *right, *bottom};
  }
}

void CanvasBoxes::Reorder(Axis axis) {
  for (Box& box : boxes_) {
    if (axis == kAcross) {
      std::swap(box.left, box.right);
    } else {
      std::swap(box.top, box.bottom);
    }
  }
}

void CanvasBoxes::Clamp() {
  const auto clamp = [](double& at, int64_t side) { at = std::clamp(at, 0.0, static_cast<double>(side)); };
  for (Box& box : boxes_) {
    clamp(box.left, width());
    clamp(box.right, width());
    clamp(box.top, height());
    clamp(box.bottom, height());
  }
}

void CanvasBoxes::Keep(const std::vector<bool>& keep) {
  std::vector<Box> kept;
  for (size_t i = 0; i < boxes_.size(); ++i) {
    if (keep[i]) kept.push_back(boxes_[i]);
  }
  boxes_ = std::move(kept);
}

}  // namespace headrace
