// `RaggedColumns` finds the ragged columns of a batch: rows that differ in length, joined along their first axis as one
// column of values, and a column of int64 splits: row i is values[splits[i]:splits[i + 1]]. Splits are found by their
// name and by ColumnType::ragged, which they alone have.
// Threads: pure functions.
#ifndef HEADRACE_OPS_ROWS_RAGGED_COLUMNS_H_
#define HEADRACE_OPS_ROWS_RAGGED_COLUMNS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "ir/type.h"

namespace headrace {

// Of the column "boxes": "boxes_splits".
std::string SplitsName(std::string_view values);

struct RaggedColumn {
  int values = 0;  // the columns' numbers
  int splits = 0;
  bool list = false;
};

// kGraph if there are splits without their values.
absl::StatusOr<std::vector<RaggedColumn>> RaggedColumns(const ir::Schema& schema);

// kGraph if one of the columns is a list. `what`: what is done to it, "mapped".
absl::Status RefuseLists(const ir::Schema& schema, absl::Span<const std::string> names, std::string_view what);

// kData if these are not splits of so many values.
absl::Status CheckSplits(const Tensor& splits, const Tensor& values);

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_RAGGED_COLUMNS_H_
