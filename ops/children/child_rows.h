// `ChildRows` holds the rows that one row has along the first axis of all its columns, as after a function that makes
// several rows of one; of a ragged column (ir/ragged_columns.h) the rows that its splits delimit.
// Threads: immutable once made.
#ifndef HEADRACE_OPS_CHILDREN_CHILD_ROWS_H_
#define HEADRACE_OPS_CHILDREN_CHILD_ROWS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/operator/block.h"
#include "engine/operator/operator.h"

namespace headrace {

// What becomes a column of such rows.
struct ChildColumn {
  int column = 0;
  int splits = -1;  // the column of its splits; -1: it is not ragged
};

class ChildRows {
 public:
  // `op`: the operator that takes rows apart, for messages. InferChildren took the schema.
  ChildRows(std::string op, const ir::Schema& schema);

  // How many a row has; kData if its columns differ in that, or one has no first axis.
  absl::StatusOr<int64_t> CountOf(const Block& block, int row) const;
  // `count` of them, from `from` on: views of the row, whose key is mixed with the number of each.
  Message Take(const Block& block, int row, int64_t from, int64_t count) const;

 private:
  absl::StatusOr<int64_t> LengthOf(const ChildColumn& column, const Block& block, int row) const;

  const std::string op_;
  const std::vector<ChildColumn> columns_;
  const std::vector<std::string> names_;
};

// The columns of such rows.
absl::StatusOr<ir::Schema> InferChildren(std::string_view op, const ir::Schema& input);
// Their number, where each row of the input is known to have as many.
Cardinality CountChildren(const ir::Schema& input, const Cardinality& rows);

}  // namespace headrace

#endif  // HEADRACE_OPS_CHILDREN_CHILD_ROWS_H_
