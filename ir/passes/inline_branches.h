// `InlineBranches` is a pass that replaces choosers that leave no choice by the steps that every row goes through.
// Threads: a pure function.
#ifndef HEADRACE_IR_PASSES_INLINE_BRANCHES_H_
#define HEADRACE_IR_PASSES_INLINE_BRANCHES_H_

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> InlineBranches(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_INLINE_BRANCHES_H_
