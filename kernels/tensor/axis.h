// `SplitAt` views one axis of a tensor as (outer, axis, inner): the axes before it, itself, and the axes after it.
// Threads: plain functions.
#ifndef HEADRACE_KERNELS_TENSOR_AXIS_H_
#define HEADRACE_KERNELS_TENSOR_AXIS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/error.h"
#include "core/tensor.h"

namespace headrace {

// Counts a negative axis from the last, as NumPy does. Fails with kGraph if there is no such axis.
inline absl::StatusOr<int> ResolveAxis(int64_t axis, int rank) {
  const int64_t resolved = axis < 0 ? axis + rank : axis;
  if (resolved >= 0 && resolved < rank) return static_cast<int>(resolved);
  if (rank == 0) return GraphError("axis = ", axis, ", but a scalar has no axes");
  return GraphError("axis = ", axis, " does not exist in ", rank, " dimensions; it may be ", -rank, " … ", rank - 1);
}

struct AxisSplit {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
};

inline AxisSplit SplitAt(absl::Span<const int64_t> shape, int axis) {
  return {ElementCount(shape.subspan(0, axis)), shape[axis], ElementCount(shape.subspan(axis + 1))};
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_TENSOR_AXIS_H_
