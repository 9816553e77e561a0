// `RaggedRows` joins the rows of one ragged column of a batch along their first axis. Numbers are appended as they
// come, into memory that grows, so that a row's own memory is freed at once; byte strings wait until the batch is full.
// Threads: one thread.
#ifndef HEADRACE_OPS_BATCH_RAGGED_ROWS_H_
#define HEADRACE_OPS_BATCH_RAGGED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"

namespace headrace {

class RaggedRows {
 public:
  // kGraph if the row has no first axis, or differs from those before in dtype or in another axis.
  absl::Status Add(const Tensor& row);
  // The same of at least one row, joined: row i is values[splits[i]:splits[i + 1]].
  absl::Status AddRun(const Tensor& values, absl::Span<const int64_t> splits);
  // The row added last; there is one.
  Tensor last() const;

  // At least one row was added. Once.
  absl::StatusOr<Tensor> TakeValues();
  absl::StatusOr<Tensor> Splits() const;

  size_t held_bytes() const { return held_bytes_; }

 private:
  absl::Status Fits(const Tensor& row) const;
  absl::Status Grow(const Tensor& row, int64_t needed);
  // Adds values, of one row or more, without their ends.
  absl::Status AddValues(const Tensor& values);
  int64_t length() const { return ends_.empty() ? 0 : ends_.back(); }

  Tensor whole_;                 // (capacity, …), of which length() are filled
  std::vector<Tensor> strings_;  // or the rows, or runs of rows, that wait
  std::vector<int64_t> ends_;    // of each row
  size_t held_bytes_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_BATCH_RAGGED_ROWS_H_
