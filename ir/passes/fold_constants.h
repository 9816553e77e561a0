// A pass: what an expression says of constants alone is computed once, and not for every row. Where `and` or `or` has
// a constant side, the other side stands alone, or goes.
//
// The result is the same because the evaluator itself computes the constants, and because a literal takes part in the
// rest as the expression did: arithmetic on literals gives one that is as weak, and comparisons give a bool. What the
// evaluator refuses (a division by zero) stays, to be the error of a row, if one comes to it. `False & x` is False
// without a look at x, as the evaluator does it; `x & False` is False only where x cannot fail, and `x & True` is x
// only where x is known to be a bool. A pure function.
#ifndef HEADRACE_IR_PASSES_FOLD_CONSTANTS_H_
#define HEADRACE_IR_PASSES_FOLD_CONSTANTS_H_

#include "absl/status/statusor.h"
#include "ir/graph.pb.h"
#include "ir/type.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> FoldConstants(const proto::Graph& graph);

// Over rows of the schema.
proto::Expression Folded(const proto::Expression& expression, const Schema& schema);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_FOLD_CONSTANTS_H_
