#include "kernels/vision/canvas_boxes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

constexpr int64_t kNumbers = 4;
// Beyond it, not every double is an int64.
constexpr double kMostWhole = 9.2e18;

template <typename T>
T Stored(double value) {
  if constexpr (std::is_integral_v<T>) value = std::isnan(value) ? 0 : std::clamp(value, -kMostWhole, kMostWhole);
  return static_cast<T>(value);
}

template <typename T>
void ReadRows(const Tensor& tensor, std::vector<Box>& rows) {
  const T* at = tensor.data<T>();
  for (Box& row : rows) {
    for (double* const number : {&row.left, &row.top, &row.right, &row.bottom}) *number = static_cast<double>(*at++);
  }
}

template <typename T>
void WriteRows(const std::vector<Box>& rows, T* at) {
  for (const Box& row : rows) {
    for (const double number : {row.left, row.top, row.right, row.bottom}) *at++ = Stored<T>(number);
  }
}

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

bool HoldsBoxes(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kInt64; }

absl::StatusOr<std::vector<Box>> RowsOfFour(const Tensor& tensor) {
  if (!HoldsBoxes(tensor.dtype()) || tensor.rank() != 2 || tensor.dim(1) != kNumbers) {
    return GraphError("needs boxes, float32, float64 or int64 of shape (n, 4); got ", tensor.TypeName());
  }
  HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, tensor.Contiguous());
  std::vector<Box> rows(static_cast<size_t>(dense.dim(0)));
  if (dense.dtype() == DType::kFloat32) {
    ReadRows<float>(dense, rows);
  } else if (dense.dtype() == DType::kFloat64) {
    ReadRows<double>(dense, rows);
  } else {
    ReadRows<int64_t>(dense, rows);
  }
  return rows;
}

absl::StatusOr<Tensor> TensorOfRows(const std::vector<Box>& rows, DType dtype, OutputAllocator& output) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, output.Allocate(dtype, {static_cast<int64_t>(rows.size()), kNumbers}));
  if (dtype == DType::kFloat32) {
    WriteRows(rows, tensor.mutable_data<float>());
  } else if (dtype == DType::kFloat64) {
    WriteRows(rows, tensor.mutable_data<double>());
  } else {
    WriteRows(rows, tensor.mutable_data<int64_t>());
  }
  return tensor;
}

absl::StatusOr<ir::ColumnType> RowsOfFourType(const ir::ColumnType& type, int64_t more) {
  const bool unknown = type.dtype == DType::kUnknown && type.fields.empty();
  const bool fits =
      !type.shape || (type.shape->size() == 2 && ((*type.shape)[1] == kNumbers || (*type.shape)[1] == ir::kUnknownDim));
  if ((!unknown && !HoldsBoxes(type.dtype)) || !fits) {
    return GraphError("needs boxes, float32, float64 or int64 of shape (n, 4); got ", ir::TypeName(type));
  }
  const int64_t rows = type.shape ? (*type.shape)[0] : ir::kUnknownDim;
  return ir::ColumnType::Of(type.dtype, {rows == ir::kUnknownDim ? rows : rows + more, kNumbers});
}

absl::StatusOr<CanvasBoxes> CanvasBoxes::Of(const Tensor& tensor) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<Box> rows, RowsOfFour(tensor));
  if (rows.empty()) return GraphError("needs boxes on a canvas, as hr.boxes makes them; got ", tensor.TypeName());
  const Box canvas = rows.back();
  rows.pop_back();
  return CanvasBoxes(tensor.dtype(), std::move(rows), Stored<int64_t>(canvas.bottom), Stored<int64_t>(canvas.right));
}

absl::StatusOr<Tensor> CanvasBoxes::ToTensor(OutputAllocator& output) const {
  std::vector<Box> rows = boxes_;
  rows.push_back({0, 0, static_cast<double>(width_), static_cast<double>(height_)});
  return TensorOfRows(rows, dtype_, output);
}

void CanvasBoxes::Follow(const MovePlan& plan) {
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
        FlipLeftRight();
        break;
      case ImageMove::Kind::kFlipTopBottom:
        FlipTopBottom();
        break;
    }
  }
}

void CanvasBoxes::Cut(const Window& window) {
  const auto left = static_cast<double>(window.left);
  const auto top = static_cast<double>(window.top);
  for (Box& box : boxes_) box = {box.left - left, box.top - top, box.right - left, box.bottom - top};
  height_ = window.height;
  width_ = window.width;
  Clamp();
}

void CanvasBoxes::Resize(int64_t height, int64_t width) {
  // Multiplies first, so that what ends with the canvas still does.
  const auto scaled = [](double at, int64_t to, int64_t from) {
    return at * static_cast<double>(to) / static_cast<double>(from);
  };
  for (Box& box : boxes_) {
    box = {scaled(box.left, width, width_), scaled(box.top, height, height_), scaled(box.right, width, width_),
           scaled(box.bottom, height, height_)};
  }
  height_ = height;
  width_ = width;
}

void CanvasBoxes::FlipLeftRight() {
  const auto width = static_cast<double>(width_);
  for (Box& box : boxes_) box = {width - box.right, box.top, width - box.left, box.bottom};
}

void CanvasBoxes::FlipTopBottom() {
  const auto height = static_cast<double>(height_);
  for (Box& box : boxes_) box = {box.left, height - box.bottom, box.right, height - box.top};
}

void CanvasBoxes::Turn(int quarters) {
  for (; quarters > 0; --quarters) {
    const auto width = static_cast<double>(width_);
    for (Box& box : boxes_) box = {box.top, width - box.right, box.bottom, width - box.left};
    std::swap(height_, width_);
  }
}

void CanvasBoxes::Warp(const PlaneMap& map, int64_t height, int64_t width) {
  const std::array<double, 9> to = Inverted(map);
  for (Box& box : boxes_) {
    std::array<double, 4> across;
    std::array<double, 4> down;
    size_t corner = 0;
    for (const double x : {box.left, box.right}) {
      for (const double y : {box.top, box.bottom}) {
        const double by = to[6] * x + to[7] * y + to[8];
        across[corner] = (to[0] * x + to[1] * y + to[2]) / by;
        down[corner] = (to[3] * x + to[4] * y + to[5]) / by;
        ++corner;
      }
    }
    const auto [left, right] = std::minmax_element(across.begin(), across.end());
    const auto [top, bottom] = std::minmax_element(down.begin(), down.end());
    box = {*left, *top, *right, *bottom};
  }
  height_ = height;
  width_ = width;
  Clamp();
}

void CanvasBoxes::Clamp() {
  const auto clamp = [](double& at, int64_t side) { at = std::clamp(at, 0.0, static_cast<double>(side)); };
  for (Box& box : boxes_) {
    clamp(box.left, width_);
    clamp(box.right, width_);
    clamp(box.top, height_);
    clamp(box.bottom, height_);
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
