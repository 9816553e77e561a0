// `SeparateRow` copies a byte string that is a view of a block of a file. Use it in operators that keep few rows of a
// block, so that the block can be freed.
// Threads: pure functions.
#ifndef HEADRACE_OPS_ROWS_SEPARATE_ROW_H_
#define HEADRACE_OPS_ROWS_SEPARATE_ROW_H_

#include <cstddef>
#include <utility>

#include "core/tensor.h"

namespace headrace {

// A row on its own keeps at most so many times its bytes in memory.
inline constexpr size_t kMostKeptByRow = 4;

// Whether the row is a byte string that keeps much more memory than it needs.
inline bool KeepsOthers(const Tensor& row) {
  return IsVariableLength(row.dtype()) && row.rank() == 0 &&
         row.footprint() > kMostKeptByRow * row.bytes() + kBufferAlignment;
}

// The row, or a copy of it that keeps nothing else. The row itself if there is no memory for a copy.
inline Tensor SeparateRow(Tensor row) {
  if (!KeepsOthers(row)) return row;
  absl::StatusOr<Tensor> copy = Tensor::CopyBytes(row.dtype(), row.bytes_value());
  return copy.ok() ? *std::move(copy) : row;
}

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_SEPARATE_ROW_H_
