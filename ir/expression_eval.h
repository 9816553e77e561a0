// Column expressions computed for one row. Pure functions; any thread.
// Types are InferExpression's. Whole numbers wrap around as NumPy's do; dividing one by zero is an error of the row.
// A real literal beside a float32 column (or a smaller one) counts as float32; other comparisons are exact.
// "and" and "or" look at their second operand only where it matters.
#ifndef HEADRACE_IR_EXPRESSION_EVAL_H_
#define HEADRACE_IR_EXPRESSION_EVAL_H_

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

// The row's tensor of that name; nullptr where there is none.
using ColumnLookup = std::function<const Tensor*(std::string_view column)>;

// A scalar. kGraph where a column is missing, is no scalar or has a type that does not go with the others; kData for a
// division by zero.
absl::StatusOr<Tensor> EvaluateExpression(const proto::Expression& expression, const ColumnLookup& lookup);

// Of an expression that gives a bool; kGraph where it does not.
absl::StatusOr<bool> EvaluatePredicate(const proto::Expression& expression, const ColumnLookup& lookup);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_EXPRESSION_EVAL_H_
