// Makes a graph tell rows from their repetitions, where every rank is padded to as many rows as the others have.
// A pure function.
#ifndef HEADRACE_IR_MARK_PADDING_H_
#define HEADRACE_IR_MARK_PADDING_H_

#include "ir/graph.pb.h"

namespace headrace::ir {

// Lets the first operator on the way up from each source that can (it has an attribute `mark_padding`) make the column
// `_pad`, and projections keep it. Of inputs that are joined side by side, the first one's marks serve; a node that
// also stands below another of them is there once more, without the column. `graph` is canonical. It comes before the
// passes, which keep columns in their order.
void MarkPadding(proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_MARK_PADDING_H_
