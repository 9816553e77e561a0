#include "ir/expression_eval.h"

#include <bit>
#include <cmath>
#include <compare>
#include <string>
#include <utility>

#include "core/error.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ir/value_text.h"

namespace headrace::ir {
namespace {

// Holds every whole number of 64 bits, and their products modulo 2^64.
using ExpressionEvalWide = __int128;

struct Scalar {
  DType dtype = DType::kUnknown;
  bool literal = false;
  ExpressionEvalWide whole = 0;  // also of bools
  double real = 0;
  std::string_view text;
};

bool IsNumberExpressionEval(DType dtype) { return IsInteger(dtype) || IsFloating(dtype); }
bool IsNarrowFloat(DType dtype) { return IsFloating(dtype) && dtype != DType::kFloat64; }

Scalar BoolScalar(bool value) { return {DType::kBool, false, value, 0, {}}; }

double HalfToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

double BFloat16ToDouble(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

Scalar WholeScalar(DType dtype, ExpressionEvalWide whole) { return {dtype, false, whole, 0, {}}; }
Scalar RealScalar(DType dtype, double real) { return {dtype, false, 0, real, {}}; }

Scalar ReadTensor(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  switch (dtype) {
    case DType::kBool:
      return BoolScalar(tensor.value<uint8_t>() != 0);
    case DType::kInt8:
      return WholeScalar(dtype, tensor.value<int8_t>());
    case DType::kInt16:
      return WholeScalar(dtype, tensor.value<int16_t>());
    case DType::kInt32:
      return WholeScalar(dtype, tensor.value<int32_t>());
    case DType::kInt64:
      return WholeScalar(dtype, tensor.value<int64_t>());
    case DType::kUInt8:
      return WholeScalar(dtype, tensor.value<uint8_t>());
    case DType::kUInt16:
      return WholeScalar(dtype, tensor.value<uint16_t>());
    case DType::kUInt32:
      return WholeScalar(dtype, tensor.value<uint32_t>());
    case DType::kUInt64:
      return WholeScalar(dtype, tensor.value<uint64_t>());
    case DType::kFloat16:
      return RealScalar(dtype, HalfToDouble(tensor.value<uint16_t>()));
    case DType::kBFloat16:
      return RealScalar(dtype, BFloat16ToDouble(tensor.value<uint16_t>()));
    case DType::kFloat32:
      return RealScalar(dtype, tensor.value<float>());
    case DType::kFloat64:
      return RealScalar(dtype, tensor.value<double>());
    case DType::kBytes:
    case DType::kString:
      return {dtype, false, 0, 0, tensor.bytes_value()};
    case DType::kUnknown:
      break;
  }
  return {};
}

ExpressionEvalWide Wrapped(DType dtype, ExpressionEvalWide whole) {
  switch (dtype) {
    case DType::kInt8:
      return static_cast<int8_t>(whole);
    case DType::kInt16:
      return static_cast<int16_t>(whole);
    case DType::kInt32:
      return static_cast<int32_t>(whole);
    case DType::kUInt8:
      return static_cast<uint8_t>(whole);
    case DType::kUInt16:
      return static_cast<uint16_t>(whole);
    case DType::kUInt32:
      return static_cast<uint32_t>(whole);
    case DType::kUInt64:
      return static_cast<uint64_t>(whole);
    default:
      return static_cast<int64_t>(whole);
  }
}

double AsReal(const Scalar& scalar) {
  return IsFloating(scalar.dtype) ? scalar.real : static_cast<double>(scalar.whole);
}

// Compares a whole number of 64 bits with a real, without rounding either.
std::partial_ordering CompareExactly(ExpressionEvalWide whole, double real) {
  if (std::isnan(real)) return std::partial_ordering::unordered;
  constexpr double kBeyond = 0x1p65;
  if (real >= kBeyond) return std::partial_ordering::less;
  if (real <= -kBeyond) return std::partial_ordering::greater;
  const double floor = std::floor(real);
  const auto below = static_cast<ExpressionEvalWide>(floor);
  if (whole != below) return whole < below ? std::partial_ordering::less : std::partial_ordering::greater;
  return floor < real ? std::partial_ordering::less : std::partial_ordering::equivalent;
}

// A literal is rounded to the smaller float type of the other operand, as NumPy does.
double RealBeside(const Scalar& scalar, const Scalar& other) {
  const bool round = scalar.literal && !other.literal && IsNarrowFloat(other.dtype);
  return round ? static_cast<double>(static_cast<float>(scalar.real)) : scalar.real;
}

std::partial_ordering CompareNumbers(const Scalar& a, const Scalar& b) {
  const bool a_real = IsFloating(a.dtype);
  const bool b_real = IsFloating(b.dtype);
  if (a_real && b_real) return RealBeside(a, b) <=> RealBeside(b, a);
  if (a_real) return 0 <=> CompareExactly(b.whole, a.real);
  if (b_real) return CompareExactly(a.whole, b.real);
  return a.whole <=> b.whole;
}

absl::StatusOr<std::partial_ordering> Compare(const Scalar& a, const Scalar& b) {
  if (IsVariableLength(a.dtype) && IsVariableLength(b.dtype)) return a.text <=> b.text;
  const bool bools = a.dtype == DType::kBool && b.dtype == DType::kBool;
  if (bools || (IsNumberExpressionEval(a.dtype) && IsNumberExpressionEval(b.dtype))) return CompareNumbers(a, b);
  return GraphError("cannot compare ", DTypeName(a.dtype), " and ", DTypeName(b.dtype));
}

bool Holds(std::string_view function, std::partial_ordering order) {
  if (function == "<") return order < 0;
  if (function == "<=") return order <= 0;
  if (function == ">") return order > 0;
  if (function == ">=") return order >= 0;
  return function == "==" ? order == 0 : order != 0;
}

bool IsComparison(std::string_view function) {
  return function == "<" || function == "<=" || function == ">" || function == ">=" || function == "==" ||
         function == "!=";
}

ExpressionEvalWide FloorDivide(ExpressionEvalWide a, ExpressionEvalWide b) {
  const ExpressionEvalWide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

absl::StatusOr<ExpressionEvalWide> ComputeWhole(std::string_view function, ExpressionEvalWide a, ExpressionEvalWide b) {
  using Bits = unsigned __int128;
  if (function == "+") return a + b;
  if (function == "-") return a - b;
  // Multiplies as unsigned bits, because overflow of signed numbers is undefined.
  if (function == "*") return static_cast<ExpressionEvalWide>(static_cast<Bits>(a) * static_cast<Bits>(b));
  if (b == 0) {
    const std::string number =
        a < 0 ? std::to_string(static_cast<int64_t>(a)) : std::to_string(static_cast<uint64_t>(a));
    return DataError("division of ", number, " by zero in an expression");
  }
  const ExpressionEvalWide quotient = FloorDivide(a, b);
  return function == "//" ? quotient : a - quotient * b;
}

// As in Python, the sign is the divisor's.
double RealModulo(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double ComputeReal(std::string_view function, double a, double b) {
  if (function == "+") return a + b;
  if (function == "-") return a - b;
  if (function == "*") return a * b;
  if (function == "/") return a / b;
  return function == "//" ? std::floor(a / b) : RealModulo(a, b);
}

double Rounded(DType dtype, double real) {
  return dtype == DType::kFloat64 ? real : static_cast<double>(static_cast<float>(real));
}

absl::StatusOr<Scalar> Compute(std::string_view function, const Scalar& a, const Scalar& b) {
  HEADRACE_ASSIGN_OR_RETURN(const DType dtype, ArithmeticDType(function, {a.dtype, a.literal}, {b.dtype, b.literal}));
  Scalar result{dtype, a.literal && b.literal, 0, 0, {}};
  if (IsFloating(dtype)) {
    const double x = Rounded(dtype, AsReal(a));
    const double y = Rounded(dtype, AsReal(b));
    result.real = Rounded(dtype, ComputeReal(function, x, y));
    return result;
  }
  HEADRACE_ASSIGN_OR_RETURN(const ExpressionEvalWide whole, ComputeWhole(function, a.whole, b.whole));
  result.whole = Wrapped(dtype, whole);
  return result;
}

using ArrangedLists = std::map<const proto::Value*, ListedValues>;

class Evaluator {
 public:
  // `lists`: those that are arranged; the others are searched from their start.
  explicit Evaluator(const ColumnLookup& lookup, const ArrangedLists* lists = nullptr)
      : lookup_(lookup), lists_(lists) {}

  absl::StatusOr<Scalar> Evaluate(const proto::Expression& expression) const {
    switch (expression.kind_case()) {
      case proto::Expression::kColumn:
        return EvaluateColumn(expression.column());
      case proto::Expression::kLiteral:
        return EvaluateLiteral(expression.literal());
      case proto::Expression::kCall:
        return EvaluateCall(expression.call());
      case proto::Expression::KIND_NOT_SET:
        break;
    }
    return GraphError("an expression is empty");
  }

 private:
  absl::StatusOr<Scalar> EvaluateColumn(const std::string& name) const {
    const Tensor* tensor = lookup_(name);
    if (tensor == nullptr) return GraphError("no column \"", name, "\"");
    if (tensor->rank() != 0 || !tensor->valid()) {
      return GraphError("column \"", name, "\" is ", tensor->TypeName(), "; an expression reads scalar columns only");
    }
    return ReadTensor(*tensor);
  }

  static absl::StatusOr<Scalar> EvaluateLiteral(const proto::Value& value) {
    switch (value.kind_case()) {
      case proto::Value::kBoolean:
        return Scalar{DType::kBool, true, value.boolean(), 0, {}};
      case proto::Value::kInteger:
        return Scalar{DType::kInt64, true, value.integer(), 0, {}};
      case proto::Value::kReal:
        return Scalar{DType::kFloat64, true, 0, value.real(), {}};
      case proto::Value::kText:
        return Scalar{DType::kString, true, 0, 0, value.text()};
      default:
        return GraphError("an expression holds a value that is no bool, number or text");
    }
  }

  absl::StatusOr<Scalar> EvaluateCall(const proto::Call& call) const {
    const std::string& function = call.function();
    if (call.arguments().empty() || call.arguments_size() > 2) {
      return GraphError("\"", function, "\" in an expression has ", call.arguments_size(), " arguments");
    }
    HEADRACE_ASSIGN_OR_RETURN(const Scalar a, Evaluate(call.arguments(0)));
    if (call.arguments_size() == 1) return EvaluateUnary(function, a);
    if (function == "in") return EvaluateIn(a, call.arguments(1).literal());
    if (function == "and" || function == "or") return EvaluateLogic(function, a, call.arguments(1));
    HEADRACE_ASSIGN_OR_RETURN(const Scalar b, Evaluate(call.arguments(1)));
    if (!IsComparison(function)) return Compute(function, a, b);
    HEADRACE_ASSIGN_OR_RETURN(const std::partial_ordering order, Compare(a, b));
    return BoolScalar(Holds(function, order));
  }

  static absl::StatusOr<Scalar> EvaluateUnary(const std::string& function, Scalar a) {
    if (function == "not") {
      if (a.dtype != DType::kBool) return GraphError("~ needs a bool; got ", DTypeName(a.dtype));
      return BoolScalar(a.whole == 0);
    }
    if (!IsNumberExpressionEval(a.dtype)) return GraphError(function, " needs a number; got ", DTypeName(a.dtype));
    if (IsNarrowFloat(a.dtype)) a.dtype = DType::kFloat32;
    const bool absolute = function == "abs";
    a.real = absolute ? std::abs(a.real) : -a.real;
    if (!absolute || a.whole < 0) a.whole = Wrapped(a.dtype, -a.whole);
    return a;
  }

  absl::StatusOr<Scalar> EvaluateLogic(const std::string& function, const Scalar& a,
                                       const proto::Expression& second) const {
    if (a.dtype != DType::kBool) return GraphError("\"", function, "\" needs two bools; got ", DTypeName(a.dtype));
    const bool decided = (function == "or") == (a.whole != 0);
    if (decided) return a;
    HEADRACE_ASSIGN_OR_RETURN(const Scalar b, Evaluate(second));
    if (b.dtype != DType::kBool) return GraphError("\"", function, "\" needs two bools; got ", DTypeName(b.dtype));
    return b;
  }

  absl::StatusOr<Scalar> EvaluateIn(const Scalar& a, const proto::Value& list) const {
    if (lists_ != nullptr) {
      const auto arranged = lists_->find(&list);
      if (arranged != lists_->end()) return EvaluateInArranged(a, list, arranged->second);
    }
    for (const int64_t item : list.integers().values()) {
      HEADRACE_ASSIGN_OR_RETURN(const auto order, Compare(a, {DType::kInt64, true, item, 0, {}}));
      if (order == 0) return BoolScalar(true);
    }
    for (const double item : list.reals().values()) {
      HEADRACE_ASSIGN_OR_RETURN(const auto order, Compare(a, {DType::kFloat64, true, 0, item, {}}));
      if (order == 0) return BoolScalar(true);
    }
    for (const std::string& item : list.texts().values()) {
      HEADRACE_ASSIGN_OR_RETURN(const auto order, Compare(a, {DType::kString, true, 0, 0, item}));
      if (order == 0) return BoolScalar(true);
    }
    return BoolScalar(false);
  }

  static absl::StatusOr<Scalar> EvaluateInArranged(const Scalar& a, const proto::Value& list,
                                                   const ListedValues& values) {
    const DType listed = list.has_texts() ? DType::kString : list.has_reals() ? DType::kFloat64 : DType::kInt64;
    HEADRACE_RETURN_IF_ERROR(Compare(a, {listed, true, 0, 0, {}}).status());
    if (list.has_texts()) return BoolScalar(values.HasText(a.text));
    if (!IsFloating(a.dtype)) return BoolScalar(values.HasWhole(a.whole));
    return BoolScalar(IsNarrowFloat(a.dtype) ? values.HasNarrow(a.real) : values.HasReal(a.real));
  }

  const ColumnLookup& lookup_;
  const ArrangedLists* const lists_;
};

absl::StatusOr<bool> BoolOf(const absl::StatusOr<Scalar>& scalar, const proto::Expression& expression) {
  if (!scalar.ok()) return scalar.status();
  if (scalar->dtype == DType::kBool) return scalar->whole != 0;
  return GraphError(ExpressionText(expression), " gives ", DTypeName(scalar->dtype), "; it must give a bool");
}

// Shorter lists are searched as quickly from their start.
constexpr int kFewestArranged = 8;

int LengthOf(const proto::Value& list) {
  return list.integers().values_size() + list.reals().values_size() + list.texts().values_size();
}

absl::StatusOr<Tensor> ToTensor(const Scalar& scalar) {
  switch (scalar.dtype) {
    case DType::kBool:
      return Tensor::Scalar(scalar.whole != 0);
    case DType::kInt8:
      return Tensor::Scalar(static_cast<int8_t>(scalar.whole));
    case DType::kInt16:
      return Tensor::Scalar(static_cast<int16_t>(scalar.whole));
    case DType::kInt32:
      return Tensor::Scalar(static_cast<int32_t>(scalar.whole));
    case DType::kInt64:
      return Tensor::Scalar(static_cast<int64_t>(scalar.whole));
    case DType::kUInt8:
      return Tensor::Scalar(static_cast<uint8_t>(scalar.whole));
    case DType::kUInt16:
      return Tensor::Scalar(static_cast<uint16_t>(scalar.whole));
    case DType::kUInt32:
      return Tensor::Scalar(static_cast<uint32_t>(scalar.whole));
    case DType::kUInt64:
      return Tensor::Scalar(static_cast<uint64_t>(scalar.whole));
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32:
      return Tensor::Scalar(static_cast<float>(scalar.real));
    case DType::kFloat64:
      return Tensor::Scalar(scalar.real);
    case DType::kBytes:
    case DType::kString:
      return Tensor::CopyBytes(scalar.dtype, scalar.text);
    case DType::kUnknown:
      break;
  }
  return InternalError("an expression has no value");
}

}  // namespace

absl::StatusOr<Tensor> EvaluateExpression(const proto::Expression& expression, const ColumnLookup& lookup) {
  // Returns a single column unchanged, without a copy.
  HEADRACE_ASSIGN_OR_RETURN(const Scalar scalar, Evaluator(lookup).Evaluate(expression));
  if (expression.has_column()) return *lookup(expression.column());
  return ToTensor(scalar);
}

absl::StatusOr<bool> EvaluatePredicate(const proto::Expression& expression, const ColumnLookup& lookup) {
  return BoolOf(Evaluator(lookup).Evaluate(expression), expression);
}

Predicate::Predicate(proto::Expression expression)
    : expression_(std::make_unique<const proto::Expression>(std::move(expression))) {
  Arrange(*expression_);
}

absl::StatusOr<bool> Predicate::Evaluate(const ColumnLookup& lookup) const {
  return BoolOf(Evaluator(lookup, &lists_).Evaluate(*expression_), *expression_);
}

void Predicate::Arrange(const proto::Expression& expression) {
  if (expression.has_literal() && LengthOf(expression.literal()) >= kFewestArranged) {
    lists_.emplace(&expression.literal(), expression.literal());
  }
  for (const proto::Expression& argument : expression.call().arguments()) Arrange(argument);
}

}  // namespace headrace::ir
