#include "kernels/vision/geometry/canvas_numbers.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/error.h"

namespace headrace {
namespace {

// Beyond it, not every double is an int64.
constexpr double kMostWhole = 9.2e18;

// The whole number that only the last bits of a computation keep the value from; else the value. Far from any image a
// fraction is more than rounding, too.
double WholeIfNearly(double value) {
  constexpr double kRounding = 1e-9;
  constexpr double kMostSide = 1e6;
  const double whole = std::nearbyint(value);
  return std::abs(value - whole) <= kRounding * std::clamp(std::abs(whole), 1.0, kMostSide) ? whole : value;
}

template <typename T>
T Stored(double value) {
  if constexpr (std::is_integral_v<T>) {
    value = std::isnan(value) ? 0 : std::clamp(WholeIfNearly(value), -kMostWhole, kMostWhole);
  }
  return static_cast<T>(value);
}

template <typename T>
std::vector<double> Read(const Tensor& tensor) {
  const T* const at = tensor.data<T>();
  return {at, at + tensor.elements()};
}

template <typename T>
void Write(absl::Span<const double> numbers, T* at) {
  std::transform(numbers.begin(), numbers.end(), at, Stored<T>);
}

}  // namespace

bool HoldsCanvasNumbers(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kInt64;
}

absl::StatusOr<std::vector<double>> CanvasNumbersOf(const Tensor& tensor) {
  HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, tensor.Contiguous());
  if (dense.dtype() == DType::kFloat32) return Read<float>(dense);
  if (dense.dtype() == DType::kFloat64) return Read<double>(dense);
  return Read<int64_t>(dense);
}

absl::StatusOr<Tensor> TensorOfCanvasNumbers(absl::Span<const double> numbers, DType dtype, const Shape& shape,
                                             OutputAllocator& output) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, output.Allocate(dtype, shape));
  if (dtype == DType::kFloat32) {
    Write(numbers, tensor.mutable_data<float>());
  } else if (dtype == DType::kFloat64) {
    Write(numbers, tensor.mutable_data<double>());
  } else {
    Write(numbers, tensor.mutable_data<int64_t>());
  }
  return tensor;
}

absl::Status CheckAxesOfNone(const Tensor& tensor, std::string_view shape) {
  if (tensor.shape() != Shape{0}) return absl::OkStatus();
  return DataError("a row without any has shape (0,), as an empty list has; give it shape ", shape);
}

int64_t WholeCanvasNumber(double number) { return Stored<int64_t>(number); }

}  // namespace headrace
