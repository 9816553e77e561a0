// `EvaluateExpression` evaluates a column expression for one row. Use `Predicate` to evaluate a condition for many
// rows. Types are those of InferExpression. Whole numbers wrap around as NumPy's do; dividing one by zero is an error
// of the row. A real literal combined with a float32 column (or a smaller one) counts as float32; other comparisons are
// exact. "and" and "or" evaluate their second operand only if it matters.
// Threads: functions and const methods from any thread.
#ifndef HEADRACE_IR_EXPRESSION_EVAL_H_
#define HEADRACE_IR_EXPRESSION_EVAL_H_

#include <functional>
#include <map>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "ir/listed_values.h"
#include "ir/messages.h"

namespace headrace::ir {

// The row's tensor of that name; nullptr if there is none.
using ColumnLookup = std::function<const Tensor*(std::string_view column)>;

// A scalar. kGraph if a column is missing, is not a scalar or has a type that does not match the others; kData for a
// division by zero.
absl::StatusOr<Tensor> EvaluateExpression(const proto::Expression& expression, const ColumnLookup& lookup);

// For an expression that gives a bool; else kGraph.
absl::StatusOr<bool> EvaluatePredicate(const proto::Expression& expression, const ColumnLookup& lookup);

// A predicate for many rows: lists of values are arranged once, so that their length costs nothing for a row.
class Predicate {
 public:
  explicit Predicate(proto::Expression expression);
  // As EvaluatePredicate.
  absl::StatusOr<bool> Evaluate(const ColumnLookup& lookup) const;
  const proto::Expression& expression() const { return *expression_; }

 private:
  void Arrange(const proto::Expression& expression);

  std::unique_ptr<const proto::Expression> expression_;
  std::map<const proto::Value*, ListedValues> lists_;  // of the expression
};

}  // namespace headrace::ir

#endif  // HEADRACE_IR_EXPRESSION_EVAL_H_
