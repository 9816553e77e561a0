#include "ir/expression.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/error.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/suggestion.h"
#include "ir/value_text.h"

namespace headrace::ir {
namespace {

enum class FunctionKind { kCompare, kArithmetic, kLogic, kNot, kSign, kIn };

struct Function {
  std::string_view name;
  FunctionKind kind;
  int arguments;
};

constexpr std::array<Function, 18> kFunctions = {{
    {"<", FunctionKind::kCompare, 2},
    {"<=", FunctionKind::kCompare, 2},
    {">", FunctionKind::kCompare, 2},
    {">=", FunctionKind::kCompare, 2},
    {"==", FunctionKind::kCompare, 2},
    {"!=", FunctionKind::kCompare, 2},
    {"+", FunctionKind::kArithmetic, 2},
    {"-", FunctionKind::kArithmetic, 2},
    {"*", FunctionKind::kArithmetic, 2},
    {"/", FunctionKind::kArithmetic, 2},
    {"//", FunctionKind::kArithmetic, 2},
    {"%", FunctionKind::kArithmetic, 2},
    {"and", FunctionKind::kLogic, 2},
    {"or", FunctionKind::kLogic, 2},
    {"not", FunctionKind::kNot, 1},
    {"neg", FunctionKind::kSign, 1},
    {"abs", FunctionKind::kSign, 1},
    {"in", FunctionKind::kIn, 2},
}};

const Function* FindFunction(std::string_view name) {
  auto found = std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == name; });
  return found == kFunctions.end() ? nullptr : &*found;
}

bool IsNumberExpression(DType dtype) { return IsInteger(dtype) || IsFloating(dtype); }
bool IsSigned(DType dtype) { return dtype >= DType::kInt8 && dtype <= DType::kInt64; }

// Whether whole numbers of that dtype go as far as `value`.
bool Holds(DType dtype, int64_t value) {
  if (IsSigned(dtype)) {
    const size_t beyond = 64 - 8 * ItemSize(dtype);
    const int64_t most = std::numeric_limits<int64_t>::max() >> beyond;
    return value >= -most - 1 && value <= most;
  }
  return value >= 0 && (ItemSize(dtype) == 8 || value < int64_t{1} << (8 * ItemSize(dtype)));
}

// A dtype, and whether it comes from a literal; kUnknown matches any.
absl::StatusOr<Operand> LiteralOperand(const proto::Value& value) {
  switch (value.kind_case()) {
    case proto::Value::kBoolean:
      return Operand{DType::kBool, true};
    case proto::Value::kInteger:
      return Operand{DType::kInt64, true};
    case proto::Value::kReal:
      return Operand{DType::kFloat64, true};
    case proto::Value::kText:
      return Operand{DType::kString, true};
    default:
      return GraphError("an expression holds ", ValueText(value), "; it may hold True, False, numbers and texts");
  }
}

bool Comparable(DType a, DType b) {
  if (a == DType::kUnknown || b == DType::kUnknown) return true;
  if (IsVariableLength(a)) return IsVariableLength(b);
  if (a == DType::kBool) return b == DType::kBool;
  return IsNumberExpression(a) && IsNumberExpression(b);
}

class TypeOfExpression {
 public:
  explicit TypeOfExpression(const Schema& schema) : schema_(schema) {}

  absl::StatusOr<Operand> Infer(const proto::Expression& expression) {
    if (depth_ == kDeepestExpression) return TooDeepExpression();
    ++depth_;
    absl::StatusOr<Operand> operand = InferOne(expression);
    --depth_;
    return operand;
  }

 private:
  absl::StatusOr<Operand> InferOne(const proto::Expression& expression) {
    switch (expression.kind_case()) {
      case proto::Expression::kColumn:
        return InferColumn(expression.column());
      case proto::Expression::kLiteral:
        return LiteralOperand(expression.literal());
      case proto::Expression::kCall:
        return InferCall(expression);
      case proto::Expression::KIND_NOT_SET:
        break;
    }
    return GraphError("an expression is empty");
  }

  absl::StatusOr<Operand> InferColumn(const std::string& name) {
    HEADRACE_ASSIGN_OR_RETURN(const Column* column, FindColumn(schema_, name));
    const ColumnType& type = column->type;
    const bool scalar = type.fields.empty() && (!type.shape.has_value() || type.shape->empty());
    if (!scalar) {
      return GraphError("column \"", name, "\" is ", TypeName(type), "; an expression reads scalar columns only");
    }
    if (type.optional) return GraphError("column \"", name, "\" may lack values; an expression needs one in every row");
    return Operand{type.dtype, false};
  }

  absl::StatusOr<Operand> InferCall(const proto::Expression& expression) {
    const proto::Call& call = expression.call();
    const Function* function = FindFunction(call.function());
    if (function == nullptr) return GraphError("an expression calls \"", call.function(), "\", which is not known");
    if (call.arguments_size() != function->arguments) {
      return GraphError("\"", call.function(), "\" in an expression has ", call.arguments_size(),
                        " arguments; it takes ", function->arguments);
    }
    if (function->kind == FunctionKind::kIn) return InferIn(expression);
    HEADRACE_ASSIGN_OR_RETURN(Operand a, Infer(call.arguments(0)));
    if (function->arguments == 1) return InferUnary(*function, a, expression);
    HEADRACE_ASSIGN_OR_RETURN(Operand b, Infer(call.arguments(1)));
    return InferBinary(*function, a, b, expression);
  }

  absl::StatusOr<Operand> InferUnary(const Function& function, Operand a, const proto::Expression& expression) {
    const bool fits = function.kind == FunctionKind::kNot ? a.dtype == DType::kBool : IsNumberExpression(a.dtype);
    if (a.dtype == DType::kUnknown) return a;
    if (a.dtype == DType::kFloat16 || a.dtype == DType::kBFloat16) a.dtype = DType::kFloat32;
    if (!fits) {
      return GraphError(ExpressionText(expression), " needs ",
                        function.kind == FunctionKind::kNot ? "a bool" : "a number", "; got ", DTypeName(a.dtype));
    }
    return a;
  }

  absl::StatusOr<Operand> InferBinary(const Function& function, Operand a, Operand b,
                                      const proto::Expression& expression) {
    const auto wrong = [&](std::string_view verb) {
      return GraphError(ExpressionText(expression), " ", verb, " ", DTypeName(a.dtype), " and ", DTypeName(b.dtype));
    };
    const auto is = [](Operand operand, DType dtype) {
      return operand.dtype == dtype || operand.dtype == DType::kUnknown;
    };
    if (function.kind == FunctionKind::kCompare) {
      if (!Comparable(a.dtype, b.dtype)) return wrong("compares");
      return Operand{DType::kBool, false};
    }
    if (function.kind == FunctionKind::kLogic) {
      if (!is(a, DType::kBool) || !is(b, DType::kBool)) return wrong("needs two bools; got");
      return Operand{DType::kBool, false};
    }
    absl::StatusOr<DType> dtype = ArithmeticDType(function.name, a, b);
    if (!dtype.ok()) return wrong("computes with");
    for (const proto::Expression& argument : expression.call().arguments()) {
      if (!IsInteger(*dtype) || !argument.literal().has_integer()) continue;
      const int64_t number = argument.literal().integer();
      if (Holds(*dtype, number)) continue;
      return GraphError(ExpressionText(expression), " computes in ", DTypeName(*dtype), ", which does not hold ",
                        number, "; cast the column first, as with TypeCast(\"int64\")");
    }
    return Operand{*dtype, a.literal && b.literal};
  }

  absl::StatusOr<Operand> InferIn(const proto::Expression& expression) {
    HEADRACE_ASSIGN_OR_RETURN(Operand a, Infer(expression.call().arguments(0)));
    const proto::Value& list = expression.call().arguments(1).literal();
    const bool numbers = list.has_integers() || list.has_reals();
    if (!numbers && !list.has_texts())
      return GraphError(ExpressionText(expression), " needs a list of numbers or texts");
    const DType dtype = numbers ? DType::kInt64 : DType::kString;
    if (!Comparable(a.dtype, dtype)) {
      return GraphError(ExpressionText(expression), " looks for ", DTypeName(a.dtype), " in a list of ",
                        numbers ? "numbers" : "texts");
    }
    return Operand{DType::kBool, false};
  }

  const Schema& schema_;
  int depth_ = 0;
};

void CollectColumns(const proto::Expression& expression, ColumnSet& columns) {
  if (expression.has_column()) columns.insert(expression.column());
  for (const proto::Expression& argument : expression.call().arguments()) CollectColumns(argument, columns);
}

// For two column dtypes: the smallest that holds both, by NumPy's rules.
DType Promote(DType a, DType b) {
  if (a == b) return a;
  if (IsFloating(a) && IsFloating(b)) {
    return a == DType::kFloat64 || b == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  }
  if (IsFloating(a) || IsFloating(b)) {
    const DType floating = IsFloating(a) ? a : b;
    const DType whole = IsFloating(a) ? b : a;
    return ItemSize(whole) > 2 ? DType::kFloat64 : floating;
  }
  if (IsSigned(a) == IsSigned(b)) return ItemSize(a) > ItemSize(b) ? a : b;
  const DType with_sign = IsSigned(a) ? a : b;
  const DType without = IsSigned(a) ? b : a;
  if (ItemSize(with_sign) > ItemSize(without)) return with_sign;
  constexpr std::array<DType, 4> kNextSigned = {DType::kInt16, DType::kInt32, DType::kInt64, DType::kFloat64};
  return kNextSigned[static_cast<int>(without) - static_cast<int>(DType::kUInt8)];
}

// A literal is weak: it takes the column's dtype, unless the literal is real and the column of whole numbers.
DType PromoteOperands(Operand a, Operand b) {
  if (a.literal == b.literal) return Promote(a.dtype, b.dtype);
  const DType column = a.literal ? b.dtype : a.dtype;
  const DType literal = a.literal ? a.dtype : b.dtype;
  return IsFloating(literal) && IsInteger(column) ? DType::kFloat64 : column;
}

}  // namespace

proto::Expression ColumnExpression(std::string_view column) {
  proto::Expression expression;
  expression.set_column(std::string(column));
  return expression;
}

proto::Expression LiteralExpression(proto::Value value) {
  proto::Expression expression;
  *expression.mutable_literal() = std::move(value);
  return expression;
}

proto::Expression CallExpression(std::string_view function, proto::Expression first) {
  proto::Expression expression;
  expression.mutable_call()->set_function(std::string(function));
  *expression.mutable_call()->add_arguments() = std::move(first);
  return expression;
}

proto::Expression CallExpression(std::string_view function, proto::Expression first, proto::Expression second) {
  proto::Expression expression = CallExpression(function, std::move(first));
  *expression.mutable_call()->add_arguments() = std::move(second);
  return expression;
}

absl::StatusOr<ColumnType> InferExpression(const proto::Expression& expression, const Schema& schema) {
  HEADRACE_ASSIGN_OR_RETURN(Operand operand, TypeOfExpression(schema).Infer(expression));
  if (operand.dtype == DType::kUnknown) return ColumnType::Unknown();
  return ColumnType::Of(operand.dtype, {});
}

absl::Status TooDeepExpression() {
  return GraphError("an expression is nested more than ", kDeepestExpression,
                    " deep; use several filters, or isin(…) for many values");
}

absl::StatusOr<DType> ArithmeticDType(std::string_view function, Operand a, Operand b) {
  if (a.dtype == DType::kUnknown || b.dtype == DType::kUnknown) return DType::kUnknown;
  if (!IsNumberExpression(a.dtype) || !IsNumberExpression(b.dtype)) {
    return GraphError("\"", function, "\" takes numbers, not ", DTypeName(a.dtype), " and ", DTypeName(b.dtype));
  }
  DType dtype = PromoteOperands(a, b);
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) dtype = DType::kFloat32;
  return function == "/" && IsInteger(dtype) ? DType::kFloat64 : dtype;
}

bool CannotFail(const proto::Expression& expression, const Schema& schema) {
  const absl::StatusOr<ColumnType> type = InferExpression(expression, schema);
  if (!type.ok() || !type->fully_known()) return false;
  if (expression.has_column()) return schema.Find(expression.column())->type.fully_known();
  if (!expression.has_call()) return true;
  const proto::Call& call = expression.call();
  const bool divides = call.function() == "//" || call.function() == "%";
  if (divides && !IsFloating(type->dtype)) return false;
  // The second operand of "in" is a list, not an expression.
  if (call.function() == "in") return CannotFail(call.arguments(0), schema);
  return std::all_of(call.arguments().begin(), call.arguments().end(),
                     [&](const proto::Expression& argument) { return CannotFail(argument, schema); });
}

ColumnSet ExpressionColumns(const proto::Expression& expression) {
  ColumnSet columns;
  CollectColumns(expression, columns);
  return columns;
}

}  // namespace headrace::ir
