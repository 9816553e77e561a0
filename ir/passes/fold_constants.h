// `FoldConstants` is a pass that computes constant subexpressions once instead of for every row. If `and` or `or` has a
// constant side, the result is the other side or a constant.
//
// The result is the same because the same evaluator computes the constants, and because the literal has the type
// behaviour of the expression it replaces: arithmetic on literals gives an equally weak literal, and comparisons give a
// bool. An expression that fails (a division by zero) stays, and remains an error of a row. `False & x` becomes False
// without evaluating x, as in the evaluator; `x & False` becomes False only if x cannot fail, and `x & True` becomes x
// only if x is known to be a bool.
// Threads: a pure function.
#ifndef HEADRACE_IR_PASSES_FOLD_CONSTANTS_H_
#define HEADRACE_IR_PASSES_FOLD_CONSTANTS_H_

#include "absl/status/statusor.h"
#include "ir/messages.h"
#include "ir/type.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> FoldConstants(const proto::Graph& graph);

// For rows of the schema.
proto::Expression Folded(const proto::Expression& expression, const Schema& schema);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_FOLD_CONSTANTS_H_
