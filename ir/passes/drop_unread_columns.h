// `DropUnreadColumns` is a pass that drops columns that nothing reads. Sources that can choose their columns choose
// fewer, steps of a map whose outputs are unused are removed (except calls of Python functions, because of their side
// effects), and a project drops other unread columns where they first appear.
// Threads: a pure function.
#ifndef HEADRACE_IR_PASSES_DROP_UNREAD_COLUMNS_H_
#define HEADRACE_IR_PASSES_DROP_UNREAD_COLUMNS_H_

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> DropUnreadColumns(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_DROP_UNREAD_COLUMNS_H_
