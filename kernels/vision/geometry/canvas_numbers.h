// `CanvasNumbersOf` reads the numbers of what lies on a canvas (canvas_target.h): float32, float64 or int64 in tensors,
// and double while they move. Whole numbers lose their fractions towards 0, as in torchvision, but for what rounding
// alone keeps from the next one.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_CANVAS_NUMBERS_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_CANVAS_NUMBERS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/output_allocator.h"
#include "core/tensor.h"

namespace headrace {

// Whether the dtype is one of the three.
bool HoldsCanvasNumbers(DType dtype);

// In the order of the tensor's elements; its dtype is one of the three.
absl::StatusOr<std::vector<double>> CanvasNumbersOf(const Tensor& tensor);
absl::StatusOr<Tensor> TensorOfCanvasNumbers(absl::Span<const double> numbers, DType dtype, const Shape& shape,
                                             OutputAllocator& output);

// kData for a row without elements that has lost its axes, as np.array([]) has none but the first. `shape`: the one to
// give it.
absl::Status CheckAxesOfNone(const Tensor& tensor, std::string_view shape);

// As an int64 tensor would hold it.
int64_t WholeCanvasNumber(double number);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_CANVAS_NUMBERS_H_
