#include "ops/flow/condition.h"

#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "engine/operator/failed_row.h"
#include "ir/expression.h"
#include "ir/expression_eval.h"
#include "ir/graph.pb.h"
#include "ir/ragged_columns.h"
#include "ir/suggestion.h"
#include "ir/value_text.h"
#include "ops/rows/bound_function.h"

namespace headrace {
namespace {

class ExpressionCondition : public Condition {
 public:
  ExpressionCondition(ir::proto::Expression expression, const ir::Schema& schema) : predicate_(std::move(expression)) {
    for (const std::string& name : ir::ExpressionColumns(predicate_.expression())) {
      columns_.push_back({name, schema.IndexOf(name)});
    }
  }

  absl::StatusOr<bool> Holds(const Block& block, int row) const override {
    absl::InlinedVector<Tensor, 2> values;
    for (const Read& read : columns_) values.push_back(block.columns[read.column].row(row));
    absl::StatusOr<bool> holds = predicate_.Evaluate([&](std::string_view name) -> const Tensor* {
      for (size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].name == name) return &values[i];
      }
      return nullptr;
    });
    // What the types decide was refused before the run.
    if (!holds.ok()) return DecidedByRow(holds.status());
    return holds;
  }

 private:
  struct Read {
    std::string name;
    int column;
  };
  const ir::Predicate predicate_;
  std::vector<Read> columns_;
};

class FunctionCondition : public Condition {
 public:
  FunctionCondition(std::string_view of, std::shared_ptr<HostFunction> function, std::vector<int> columns,
                    const OpArguments& arguments)
      : of_(of),
        function_(std::move(function)),
        columns_(std::move(columns)),
        draws_(arguments.attributes.Bool("random")),
        seed_(arguments.seed),
        salt_(arguments.salt) {}

  absl::StatusOr<bool> Holds(const Block& block, int row) const override {
    absl::InlinedVector<Tensor, 2> values;
    for (int column : columns_) values.push_back(block.columns[column].row(row));
    RowRandom random(seed_, salt_, block.ids[row]);
    OutputAllocator output;
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<Tensor> results,
                              function_->Call(values, draws_ ? &random : nullptr, output));
    if (results.size() == 1 && results[0].dtype() == DType::kBool && results[0].elements() == 1) {
      return results[0].value<bool>();
    }
    return GraphError("the ", of_, "'s function returned ",
                      results.size() == 1 ? results[0].TypeName() : Cat(results.size(), " values"),
                      "; it must return True or False");
  }

 private:
  const std::string of_;
  const std::shared_ptr<HostFunction> function_;
  const std::vector<int> columns_;
  const bool draws_;
  const uint64_t seed_;
  const uint64_t salt_;
};

// The columns that the function gets.
std::vector<std::string> ConditionColumns(const ir::Attributes& attributes, const ir::Schema& schema) {
  return attributes.IsNone("columns") ? schema.Names() : attributes.Strings("columns");
}

absl::Status CheckFunction(std::string_view of, const ir::Attributes& attributes, const ir::Schema& input) {
  const std::vector<std::string> columns = ConditionColumns(attributes, input);
  for (const std::string& name : columns) HEADRACE_RETURN_IF_ERROR(ir::FindColumn(input, name).status());
  return ir::RefuseLists(input, columns, Cat("given to a ", of, "'s function"));
}

absl::Status CheckExpression(const ir::Attributes& attributes, const ir::Schema& input) {
  if (!attributes.IsNone("columns")) return GraphError("columns is for functions; a predicate names its own");
  HEADRACE_ASSIGN_OR_RETURN(const ir::ColumnType type, ir::InferExpression(attributes.Expr("predicate"), input));
  if (type.dtype == DType::kBool || type.dtype == DType::kUnknown) return absl::OkStatus();
  return GraphError("predicate ", ir::ExpressionText(attributes.Expr("predicate")), " gives ", ir::TypeName(type),
                    "; it must give a bool, such as a comparison");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Condition>> MakeCondition(std::string_view of, const OpArguments& arguments) {
  const ir::Attributes& attributes = arguments.attributes;
  const ir::Schema& schema = arguments.inputs[0];
  if (!CallsFunction(attributes)) {
    return std::make_unique<ExpressionCondition>(attributes.Expr("predicate"), schema);
  }
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<HostFunction> function,
                            BoundFunction(*arguments.run->bindings, attributes.ReferenceName("function")));
  std::vector<int> indices;
  for (const std::string& column : ConditionColumns(attributes, schema)) indices.push_back(schema.IndexOf(column));
  return std::make_unique<FunctionCondition>(of, std::move(function), std::move(indices), arguments);
}

std::vector<ir::Attribute> ConditionAttributes(std::string_view rows) {
  return {{.name = "predicate",
           .type = ir::AttributeType::kExpression,
           .doc = "An expression over columns that gives a bool.",
           .default_value = "None",
           .nullable = true},
          {.name = "function",
           .type = ir::AttributeType::kReference,
           .doc = Cat("A Python function that returns True for ", rows, "."),
           .default_value = "None",
           .nullable = true,
           .referenced = ir::Referenced::kPredicate},
          {.name = "columns",
           .type = ir::AttributeType::kStrings,
           .doc = "The columns that the function gets, in order; None: all.",
           .default_value = "None",
           .nullable = true,
           .length = ir::ListLength{.least = 0}},
          {.name = "random",
           .type = ir::AttributeType::kBool,
           .doc = "Pass the function a NumPy generator of the row's own as `rng`.",
           .default_value = "False"}};
}

ir::PythonSignature ConditionSignature(std::string_view rows, std::string_view example) {
  return {.parameters = "predicate: Expression | Callable[..., Any], columns: str | Sequence[str] | None = None",
          .docs = {{"predicate",
                    Cat(rows, ": a column expression such as `", example,
                        "`, which the engine computes, or a Python function that returns True for them. If it has a "
                        "parameter `rng`, it gets a numpy.random.Generator for the row.")},
                   {"columns", "The columns that a Python function gets, in this order; None: all."}}};
}

absl::Status CheckCondition(std::string_view of, const ir::Attributes& attributes, const ir::Schema& input) {
  const bool by_expression = !attributes.IsNone("predicate");
  if (by_expression == CallsFunction(attributes)) {
    return GraphError(by_expression ? "has both a predicate and a function" : "has neither a predicate nor a function",
                      "; give one: ", of, "(hr.col(\"label\") < 10), or ", of, "(function)");
  }
  return by_expression ? CheckExpression(attributes, input) : CheckFunction(of, attributes, input);
}

std::vector<ir::ColumnSet> ReadsCondition(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                          const ir::ColumnSet& wanted) {
  std::vector<ir::ColumnSet> reads = ir::PassesColumns()(attributes, inputs, wanted);
  if (!CallsFunction(attributes)) {
    reads[0].merge(ir::ExpressionColumns(attributes.Expr("predicate")));
  } else {
    const std::vector<std::string> columns = ConditionColumns(attributes, inputs[0]);
    reads[0].insert(columns.begin(), columns.end());
  }
  return reads;
}

bool AlwaysHolds(const ir::Attributes& attributes) {
  return !attributes.IsNone("predicate") && attributes.Expr("predicate").literal().boolean();
}

bool CallsFunction(const ir::Attributes& attributes) { return !attributes.IsNone("function"); }

}  // namespace headrace
