// Marks the sources whose rows may travel in groups: how many together, the engine settles by what a row costs. Left
// alone are sources below a Python function, which is called for no row before its turn, below a cache, which goes by
// single rows, and below what makes many rows of one, whose states count within messages.
// Rows, their order and their identities are the same.
#ifndef HEADRACE_IR_PASSES_GROUP_ROWS_H_
#define HEADRACE_IR_PASSES_GROUP_ROWS_H_

#include "absl/status/statusor.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> GroupRows(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_GROUP_ROWS_H_
