// A pass: columns that nothing reads are not made. Sources that can choose their columns choose fewer, steps of a map
// whose outputs nobody reads go away (calls of the user's Python stay, for what they do besides), and what remains
// unread is dropped by a project where it comes up. A pure function.
#ifndef HEADRACE_IR_PASSES_DROP_UNREAD_COLUMNS_H_
#define HEADRACE_IR_PASSES_DROP_UNREAD_COLUMNS_H_

#include "absl/status/statusor.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> DropUnreadColumns(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_DROP_UNREAD_COLUMNS_H_
