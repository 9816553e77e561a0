// `MarkPadding` makes a graph mark repeated rows, for runs that pad every rank to the same number of rows.
// Threads: a pure function.
#ifndef HEADRACE_IR_MARK_PADDING_H_
#define HEADRACE_IR_MARK_PADDING_H_

#include <string_view>

#include "absl/status/status.h"
#include "ir/messages.h"

namespace headrace::ir {

// The column that marks repeated rows of a batch: bool, one value a row.
inline constexpr std::string_view kPaddingColumn = "_pad";

// From each source up, the first operator with an attribute `mark_padding` makes the column `_pad`, and projections
// keep it. If inputs are joined side by side, the first one has the column; a node that is also below another of them
// is duplicated without it. `graph` is canonical. Runs before the passes, which keep columns in their order.
// kUnsupported if a kernel that must tell repeated rows apart is where the column is not.
absl::Status MarkPadding(proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_MARK_PADDING_H_
