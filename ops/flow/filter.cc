#include <memory>
#include <utility>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ops/flow/condition.h"
#include "ops/rows/block_rows.h"

namespace headrace {
namespace {

class FilterOperator : public RowOperator {
 public:
  explicit FilterOperator(std::unique_ptr<Condition> condition) : condition_(std::move(condition)) {}

  void Apply(Block& block) const override {
    absl::InlinedVector<int, 32> kept;
    for (int row = 0; row < block.rows(); ++row) {
      absl::StatusOr<bool> keeps = condition_->Holds(block, row);
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

absl::StatusOr<ir::Schema> InferFilter(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckCondition("filter", attributes, inputs[0]));
  return inputs[0];
}

bool KeepsAll(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/,
              absl::Span<const std::optional<uint64_t>> /*most_rows*/) {
  return AlwaysHolds(attributes);
}

void Describe(const OpArguments& arguments, OperatorProperties& properties) {
  ir::Traits& traits = properties.traits;
  traits.python = traits.ordered = CallsFunction(arguments.attributes);
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
        .attributes = ConditionAttributes("the rows to keep"),
        .traits = {.selects = true},
        .python_module = "dataset",
        .python = ConditionSignature("Which rows stay", "hr.col(\"label\") < 10"),
        .example = "ds.filter(hr.col(\"label\") < 10)",
        .infer = InferFilter,
        .reads = ReadsCondition,
        .is_identity = KeepsAll,
        .most_rows = ir::NoMoreRows(),
    },
    {.row = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
       HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Condition> condition, MakeCondition("filter", arguments));
       return std::make_unique<FilterOperator>(std::move(condition));
     },
     .properties = Describe,
     .cardinality = [](const OpArguments& /*arguments*/, absl::Span<const Cardinality> inputs) -> Cardinality {
       return inputs[0].known() && inputs[0].rows == 0 ? inputs[0] : Cardinality::Unknown();
     }});

}  // namespace
}  // namespace headrace
