// The rows that one row holds along the first axis of all its columns, as after a function that makes several rows of
// one.
// Thread contract: immutable once made.
#ifndef HEADRACE_OPS_CHILD_ROWS_H_
#define HEADRACE_OPS_CHILD_ROWS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/operator/block.h"
#include "engine/operator/operator.h"

namespace headrace {

class ChildRows {
 public:
  // `op`: the operator that takes rows apart, for messages.
  ChildRows(std::string op, std::vector<std::string> names) : op_(std::move(op)), names_(std::move(names)) {}

  // How many a row has; kData if its columns differ in that, or one has no first axis.
  absl::StatusOr<int64_t> CountOf(const Block& block, int row) const;
  // `count` of them, from `from` on: views of the row, whose key is mixed with the number of each.
  Message Take(const Block& block, int row, int64_t from, int64_t count) const;

 private:
  absl::Status CheckLength(size_t column, const Tensor& tensor, int64_t rows) const;

  const std::string op_;
  const std::vector<std::string> names_;
};

// The columns of such rows.
absl::StatusOr<ir::Schema> InferChildren(std::string_view op, const ir::Schema& input);
// Their number, where each row of the input is known to have as many.
Cardinality CountChildren(const ir::Schema& input, const Cardinality& rows);

}  // namespace headrace

#endif  // HEADRACE_OPS_CHILD_ROWS_H_
