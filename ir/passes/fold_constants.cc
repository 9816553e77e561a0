#include "ir/passes/fold_constants.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/expression.h"
#include "ir/expression_eval.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

bool IsLiteral(const proto::Expression& expression) { return expression.kind_case() == proto::Expression::kLiteral; }

std::optional<bool> ConstantBool(const proto::Expression& expression) {
  if (!IsLiteral(expression) || expression.literal().kind_case() != proto::Value::kBoolean) return std::nullopt;
  return expression.literal().boolean();
}

bool GivesBool(const proto::Expression& expression, const Schema& schema) {
  const absl::StatusOr<ColumnType> type = InferExpression(expression, schema);
  return type.ok() && type->dtype == DType::kBool;
}

// The value of a call whose operands are literals; nullopt if it is an error, or has a type that no literal has.
std::optional<proto::Expression> Computed(const proto::Expression& expression) {
  const absl::StatusOr<Tensor> value = EvaluateExpression(expression, [](std::string_view) { return nullptr; });
  if (!value.ok()) return std::nullopt;
  switch (value->dtype()) {
    case DType::kBool:
      return LiteralExpression(BoolValue(value->value<bool>()));
    case DType::kInt64:
      return LiteralExpression(IntValue(value->value<int64_t>()));
    case DType::kFloat64:
      return LiteralExpression(FloatValue(value->value<double>()));
    default:
      return std::nullopt;
  }
}

// Simplifies "and" or "or" with a constant side that decides the result or has no effect.
std::optional<proto::Expression> Simplified(const proto::Call& call, const Schema& schema) {
  const bool decides = call.function() == "or";
  const proto::Expression& first = call.arguments(0);
  const proto::Expression& second = call.arguments(1);
  if (const std::optional<bool> constant = ConstantBool(first)) {
    if (*constant == decides) return first;
    return GivesBool(second, schema) ? std::optional(second) : std::nullopt;
  }
  const std::optional<bool> constant = ConstantBool(second);
  if (!constant.has_value() || !GivesBool(first, schema)) return std::nullopt;
  if (*constant != decides) return first;
  return CannotFail(first, schema) ? std::optional(second) : std::nullopt;
}

}  // namespace

proto::Expression Folded(const proto::Expression& expression, const Schema& schema) {
  if (!expression.has_call()) return expression;
  proto::Expression folded = expression;
  proto::Call& call = *folded.mutable_call();
  // The second operand of "in" is a list, not an expression.
  const int operands = call.function() == "in" ? 1 : call.arguments_size();
  for (int i = 0; i < operands; ++i) *call.mutable_arguments(i) = Folded(call.arguments(i), schema);
  const bool constant = std::all_of(call.arguments().begin(), call.arguments().begin() + operands, IsLiteral);
  if (constant) return Computed(folded).value_or(folded);
  const bool logic = call.function() == "and" || call.function() == "or";
  return logic ? Simplified(call, schema).value_or(folded) : folded;
}

absl::StatusOr<proto::Graph> FoldConstants(const proto::Graph& graph) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<Schema> schemas, InferSchemas(graph));
  proto::Graph result = graph;
  for (proto::Node& node : *result.mutable_nodes()) {
    if (node.inputs().empty()) continue;
    for (proto::Attribute& attribute : *node.mutable_attributes()) {
      if (!attribute.value().has_expression()) continue;
      proto::Expression& expression = *attribute.mutable_value()->mutable_expression();
      expression = Folded(expression, schemas[node.inputs(0)]);
    }
  }
  return result;
}

}  // namespace headrace::ir
