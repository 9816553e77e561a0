// `GroupRows` is a pass that marks the sources whose rows may travel in groups; the engine chooses the size by the cost
// of a row. It does not mark sources below a Python function, which is called for no row before its turn, below a
// cache, which handles single rows, and below an operator that makes many rows of one, whose states count within
// messages. Rows, their order and their identities are the same.
// Threads: a pure function.
#ifndef HEADRACE_IR_PASSES_GROUP_ROWS_H_
#define HEADRACE_IR_PASSES_GROUP_ROWS_H_

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> GroupRows(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_GROUP_ROWS_H_
