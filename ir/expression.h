// `InferExpression` infers the type of a column expression over a schema; `ExpressionColumns` gives the columns that it
// reads. Numbers follow NumPy with weak Python literals: a column of int32 plus 1 stays int32, plus
// 0.5 becomes float64; "/" gives float64 (float32 stays), float16 and bfloat16 are computed as float32. Comparisons are
// exact.
// Threads: pure functions.
#ifndef HEADRACE_IR_EXPRESSION_H_
#define HEADRACE_IR_EXPRESSION_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "ir/declaration.h"
#include "ir/messages.h"
#include "ir/type.h"

namespace headrace::ir {

proto::Expression ColumnExpression(std::string_view column);
proto::Expression LiteralExpression(proto::Value value);
// One or two `arguments`.
proto::Expression CallExpression(std::string_view function, proto::Expression first);
proto::Expression CallExpression(std::string_view function, proto::Expression first, proto::Expression second);

// kGraph for an expression deeper than kDeepestExpression (ir/graph_depth.h), a missing column, a column that is not a
// scalar, an unknown function, or types that do not match. A column of unknown type matches any.
absl::StatusOr<ColumnType> InferExpression(const proto::Expression& expression, const Schema& schema);

// kGraph: the error of an expression deeper than kDeepestExpression.
absl::Status TooDeepExpression();

// The dtype of `function` applied to operands of these dtypes; `literal` operands are weak. Shared with evaluation.
struct Operand {
  DType dtype;
  bool literal;
};
absl::StatusOr<DType> ArithmeticDType(std::string_view function, Operand a, Operand b);

// Whether it cannot fail for any row of the schema: every type is known, and no whole number is divided.
bool CannotFail(const proto::Expression& expression, const Schema& schema);

ColumnSet ExpressionColumns(const proto::Expression& expression);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_EXPRESSION_H_
