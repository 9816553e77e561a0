// `RaggedColumns` finds the ragged columns of a batch: rows that differ in length, joined along their first axis as one
// column of values, and a column of int64 splits: row i is values[splits[i]:splits[i + 1]]. Splits are found by their
// name and by ColumnType::ragged, which they alone have.
// Threads: pure functions.
#ifndef HEADRACE_IR_RAGGED_COLUMNS_H_
#define HEADRACE_IR_RAGGED_COLUMNS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "ir/type.h"

namespace headrace::ir {

// Of the column "boxes": "boxes_splits".
std::string SplitsName(std::string_view values);
// Of a column that users get as a list of its rows, and whose splits they do not see: "boxes[splits]".
std::string ListSplitsName(std::string_view values);
// The number of the column of its splits; -1: the column is no list, whatever a column beside it is called.
int ListSplitsOf(const Schema& schema, std::string_view values);

struct RaggedColumn {
  int values = 0;  // the columns' numbers
  int splits = 0;
  bool list = false;
};

// kGraph if there are splits without their values.
absl::StatusOr<std::vector<RaggedColumn>> RaggedColumns(const Schema& schema);

// kGraph if one of the columns is a list. `what`: what is done to it, "mapped".
absl::Status RefuseLists(const Schema& schema, absl::Span<const std::string> names, std::string_view what);

// kData if these are not splits of so many values.
absl::Status CheckSplits(const Tensor& splits, const Tensor& values);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_RAGGED_COLUMNS_H_
