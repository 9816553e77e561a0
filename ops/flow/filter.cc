#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/failed_row.h"
#include "engine/operator/operator.h"
#include "ir/expression.h"
#include "ir/expression_eval.h"
#include "ir/graph.pb.h"
#include "ir/suggestion.h"
#include "ir/value_text.h"
#include "ops/rows/block_rows.h"
#include "ops/rows/bound_function.h"
#include "ops/rows/ragged_columns.h"

namespace headrace {
namespace {

// Decides for one row whether it stays. Threads: Keeps is called from many threads at once.
class Condition {
 public:
  virtual ~Condition() = default;
  virtual absl::StatusOr<bool> Keeps(const Block& block, int row) const = 0;
};

class ExpressionCondition : public Condition {
 public:
  ExpressionCondition(ir::proto::Expression expression, const ir::Schema& schema) : predicate_(std::move(expression)) {
    for (const std::string& name : ir::ExpressionColumns(predicate_.expression())) {
      columns_.push_back({name, schema.IndexOf(name)});
    }
  }

  absl::StatusOr<bool> Keeps(const Block& block, int row) const override {
    absl::InlinedVector<Tensor, 2> values;
    for (const Read& read : columns_) values.push_back(block.columns[read.column].row(row));
    absl::StatusOr<bool> keeps = predicate_.Evaluate([&](std::string_view name) -> const Tensor* {
      for (size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].name == name) return &values[i];
      }
      return nullptr;
    });
    // What the types decide was refused before the run.
    if (!keeps.ok()) return DecidedByRow(keeps.status());
    return keeps;
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
  FunctionCondition(std::shared_ptr<HostFunction> function, std::vector<int> columns, const OpArguments& arguments)
      : function_(std::move(function)),
        columns_(std::move(columns)),
        draws_(arguments.attributes.Bool("random")),
        seed_(arguments.seed),
        salt_(arguments.salt) {}

  absl::StatusOr<bool> Keeps(const Block& block, int row) const override {
    absl::InlinedVector<Tensor, 2> values;
    for (int column : columns_) values.push_back(block.columns[column].row(row));
    RowRandom random(seed_, salt_, block.ids[row]);
    OutputAllocator output;
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<Tensor> results,
                              function_->Call(values, draws_ ? &random : nullptr, output));
    if (results.size() == 1 && results[0].dtype() == DType::kBool && results[0].elements() == 1) {
      return results[0].value<bool>();
    }
    return GraphError("the filter's function returned ",
                      results.size() == 1 ? results[0].TypeName() : Cat(results.size(), " values"),
                      "; it must return True or False");
  }

 private:
  const std::shared_ptr<HostFunction> function_;
  const std::vector<int> columns_;
  const bool draws_;
  const uint64_t seed_;
  const uint64_t salt_;
};

class FilterOperator : public RowOperator {
 public:
  explicit FilterOperator(std::unique_ptr<Condition> condition) : condition_(std::move(condition)) {}

  void Apply(Block& block) const override {
    absl::InlinedVector<int, 32> kept;
    for (int row = 0; row < block.rows(); ++row) {
      absl::StatusOr<bool> keeps = condition_->Keeps(block, row);
      if (!keeps.ok()) {
        block.Fail(row, std::move(keeps).status());
        break;
      }
      if (*keeps) kept.push_back(row);
    }
    KeepRows(block, kept);
  }

 private:
  const std::unique_ptr<Condition> condition_;
};

// The columns that the function gets.
std::vector<std::string> FunctionColumns(const ir::Attributes& attributes, const ir::Schema& schema) {
  return attributes.IsNone("columns") ? schema.Names() : attributes.Strings("columns");
}

absl::StatusOr<std::unique_ptr<Condition>> MakeCondition(const OpArguments& arguments) {
  const ir::Attributes& attributes = arguments.attributes;
  const ir::Schema& schema = arguments.inputs[0];
  if (!attributes.IsNone("predicate")) {
    return std::make_unique<ExpressionCondition>(attributes.Expr("predicate"), schema);
  }
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<HostFunction> function,
                            BoundFunction(*arguments.run->bindings, attributes.ReferenceName("function")));
  std::vector<int> indices;
  for (const std::string& column : FunctionColumns(attributes, schema)) indices.push_back(schema.IndexOf(column));
  return std::make_unique<FunctionCondition>(std::move(function), std::move(indices), arguments);
}

absl::StatusOr<ir::Schema> InferFilter(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  const bool by_expression = !attributes.IsNone("predicate");
  if (by_expression != attributes.IsNone("function")) {
    return GraphError(by_expression ? "has both a predicate and a function" : "has neither a predicate nor a function",
                      "; give one: filter(hr.col(\"label\") < 10), or filter(function)");
  }
  if (!by_expression) {
    const std::vector<std::string> columns = FunctionColumns(attributes, inputs[0]);
    for (const std::string& name : columns) HEADRACE_RETURN_IF_ERROR(ir::FindColumn(inputs[0], name).status());
    HEADRACE_RETURN_IF_ERROR(RefuseLists(inputs[0], columns, "given to a filter's function"));
    return inputs[0];
  }
  if (!attributes.IsNone("columns")) return GraphError("columns is for functions; a predicate names its own");
  HEADRACE_ASSIGN_OR_RETURN(const ir::ColumnType type, ir::InferExpression(attributes.Expr("predicate"), inputs[0]));
  if (type.dtype != DType::kBool && type.dtype != DType::kUnknown) {
    return GraphError("predicate ", ir::ExpressionText(attributes.Expr("predicate")), " gives ", ir::TypeName(type),
                      "; it must give a bool, such as a comparison");
  }
  return inputs[0];
}

std::vector<ir::ColumnSet> ReadsFilter(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                       const ir::ColumnSet& wanted) {
  std::vector<ir::ColumnSet> reads = ir::PassesColumns()(attributes, inputs, wanted);
  if (!attributes.IsNone("predicate")) {
    reads[0].merge(ir::ExpressionColumns(attributes.Expr("predicate")));
  } else {
    const std::vector<std::string> columns = FunctionColumns(attributes, inputs[0]);
    reads[0].insert(columns.begin(), columns.end());
  }
  return reads;
}

bool KeepsAll(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/,
              absl::Span<const std::optional<uint64_t>> /*most_rows*/) {
  return !attributes.IsNone("predicate") && attributes.Expr("predicate").literal().boolean();
}

void Describe(const OpArguments& arguments, OperatorProperties& properties) {
  ir::Traits& traits = properties.traits;
  traits.python = traits.ordered = !arguments.attributes.IsNone("function");
  traits.light = !traits.python;
}

const OpRegistration filter_registration(
    {
        .name = "filter",
        .role = ir::Role::kRow,
        .summary = "Keeps the rows for which a condition holds.",
        .doc = "The condition is a column expression, computed by the engine, or a Python function, called in row "
               "order with one row's columns as NumPy arrays. Columns of an expression must be scalars: filter before "
               "batch. A row for which the condition cannot be computed is an error.",
        .attributes = {{.name = "predicate",
                        .type = ir::AttributeType::kExpression,
                        .doc = "An expression over columns that gives a bool.",
                        .default_value = "None",
                        .nullable = true},
                       {.name = "function",
                        .type = ir::AttributeType::kReference,
                        .doc = "A Python function that returns True for the rows to keep.",
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
                        .default_value = "False"}},
        .traits = {.selects = true},
        .python_module = "dataset",
        .python = {.parameters =
                       "predicate: Expression | Callable[..., Any], columns: str | Sequence[str] | None = None",
                   .docs = {{"predicate",
                             "Which rows stay: a column expression such as `hr.col(\"label\") < 10`, which the engine "
                             "computes, or a Python function that returns True for them. If it has a parameter `rng`, "
                             "it gets a numpy.random.Generator for the row."},
                            {"columns", "The columns that a Python function gets, in this order; None: all."}}},
        .example = "ds.filter(hr.col(\"label\") < 10)",
        .infer = InferFilter,
        .reads = ReadsFilter,
        .is_identity = KeepsAll,
        .most_rows = ir::NoMoreRows(),
    },
    {.row = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
       HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Condition> condition, MakeCondition(arguments));
       return std::make_unique<FilterOperator>(std::move(condition));
     },
     .properties = Describe,
     .cardinality = [](const OpArguments& /*arguments*/, absl::Span<const Cardinality> inputs) -> Cardinality {
       return inputs[0].known() && inputs[0].rows == 0 ? inputs[0] : Cardinality::Unknown();
     }});

}  // namespace
}  // namespace headrace
