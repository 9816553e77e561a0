#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/output_allocator.h"
#include "core/philox.h"
#include "ir/ragged_columns.h"
#include "ir/suggestion.h"
#include "ops/flow/replayed_operator.h"
#include "ops/rows/bound_function.h"
#include "ops/rows/declared_types.h"
#include "ops/rows/given_columns.h"
#include "ops/rows/separate_row.h"

namespace headrace {
namespace {

// The columns that the function gets after the state.
std::vector<std::string> ScannedColumns(const ir::Attributes& attributes) { return attributes.Strings("columns"); }

// The columns that it gives.
absl::StatusOr<ir::Columns> ScanColumns(const ir::Attributes& attributes, const ir::Schema& input) {
  ir::Schema scanned;
  for (const std::string& name : ScannedColumns(attributes)) {
    HEADRACE_ASSIGN_OR_RETURN(const ir::Column* column, ir::FindColumn(input, name));
    scanned.columns.push_back(*column);
  }
  return GivenColumns(attributes, scanned);
}

absl::StatusOr<Tensor> InitialState(const OpArguments& arguments) {
  const std::string name = arguments.attributes.ReferenceName("initial");
  const auto found = arguments.run->bindings->arrays.find(name);
  const bool held = found != arguments.run->bindings->arrays.end();
  if (!held || found->second.columns.size() + found->second.strided.size() != 1) {
    return GraphError("the initial state ", name, " is not here: a graph that holds one runs only where it was built");
  }
  // Arrays of columns have a row along their first axis.
  if (!found->second.columns.empty()) return found->second.columns[0].second.Index(0);
  HEADRACE_ASSIGN_OR_RETURN(const Tensor copy, found->second.strided.begin()->second.Copy(0, 1));
  return copy.Index(0);
}

class ScanOperator : public ReplayedOperator {
 public:
  ScanOperator(const OpArguments& arguments, std::shared_ptr<HostFunction> function, Tensor initial, ir::Columns given)
      : function_(std::move(function)),
        initial_(std::move(initial)),
        given_(std::move(given)),
        draws_(arguments.attributes.Bool("random")),
        seed_(arguments.seed),
        salt_(arguments.salt),
        results_(given_.size()) {
    const ir::Schema& schema = arguments.inputs[0];
    for (const std::string& name : ScannedColumns(arguments.attributes)) read_.push_back(schema.IndexOf(name));
    for (const ir::Column& column : given_) written_.push_back(arguments.output.IndexOf(column.name));
  }

  size_t held_bytes() const override { return state_.footprint(); }

 protected:
  void Forget() override { state_ = initial_; }

  absl::StatusOr<bool> Use(Block& block, int row, bool again) override {
    std::vector<Tensor> values = {state_};
    for (const int column : read_) values.push_back(block.columns[static_cast<size_t>(column)].row(row));
    RowRandom random(seed_, salt_, block.ids[row]);
    OutputAllocator output;
    HEADRACE_ASSIGN_OR_RETURN(std::vector<Tensor> given, function_->Call(values, draws_ ? &random : nullptr, output));
    if (given.size() != 1 + given_.size()) {
      return GraphError("its function gave ", given.size(), " values; it must give the new state and ", given_.size(),
                        given_.size() == 1 ? " value" : " values", ", as a tuple");
    }
    if (given[0].dtype() != initial_.dtype()) {
      return GraphError("its function gave the state ", given[0].TypeName(), ", which began as ", initial_.TypeName(),
                        "; the dtype must stay: convert one of the two");
    }
    HEADRACE_RETURN_IF_ERROR(CheckDeclared(given_, absl::MakeConstSpan(given).subspan(1)));
    state_ = SeparateRow(std::move(given[0]));
    for (size_t i = 0; !again && i < given_.size(); ++i) results_[i].Append(std::move(given[i + 1]));
    return true;
  }

  void Change(Block& block) override {
    if (block.rows() == 0) return block.columns.clear();
    for (size_t i = 0; i < given_.size(); ++i) {
      const auto at = static_cast<size_t>(written_[i]);
      if (at >= block.columns.size()) block.columns.resize(at + 1);
      block.columns[at] = std::exchange(results_[i], BlockColumn());
    }
  }

 private:
  const std::shared_ptr<HostFunction> function_;
  const Tensor initial_;
  const ir::Columns given_;
  const bool draws_;
  const uint64_t seed_;
  const uint64_t salt_;
  std::vector<int> read_;
  std::vector<int> written_;  // rising where they are new
  std::vector<BlockColumn> results_;
  Tensor state_;
};

absl::StatusOr<ir::Schema> InferScan(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  const std::vector<std::string> columns = ScannedColumns(attributes);
  HEADRACE_ASSIGN_OR_RETURN(const ir::Columns given, ScanColumns(attributes, inputs[0]));
  if (given.empty()) return GraphError("output is empty; name the columns that the function gives");
  HEADRACE_RETURN_IF_ERROR(ir::RefuseLists(inputs[0], columns, "given to a scan's function"));
  ir::Schema schema = inputs[0];
  for (const ir::Column& column : given) {
    const int at = schema.IndexOf(column.name);
    if (at < 0) {
      schema.columns.push_back(column);
    } else {
      schema.columns.type(static_cast<size_t>(at)) = column.type;
    }
  }
  return schema;
}

absl::StatusOr<std::unique_ptr<StreamOperator>> MakeScan(const OpArguments& arguments) {
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<HostFunction> function,
                            BoundFunction(*arguments.run->bindings, arguments.attributes.ReferenceName("function")));
  HEADRACE_ASSIGN_OR_RETURN(Tensor initial, InitialState(arguments));
  HEADRACE_ASSIGN_OR_RETURN(ir::Columns given, ScanColumns(arguments.attributes, arguments.inputs[0]));
  return std::make_unique<ScanOperator>(arguments, std::move(function), std::move(initial), std::move(given));
}

const OpRegistration scan_registration(
    {
        .name = "scan",
        .role = ir::Role::kStream,
        .summary = "Calls a Python function for row after row, with a state that each call hands to the next.",
        .doc = "The function gets the state and the row's `columns`, and returns a tuple of the new state and the "
               "values of the output columns: tf.data's scan. Every epoch begins with `initial`. The state is one "
               "number or array, and keeps its dtype. Other columns pass unchanged. With shards each rank scans its "
               "own rows. A row for which the function fails ends the epoch, also under on_error(\"skip\"), as the "
               "rows after it depend on it.\n"
               "The state is not saved: a restart reads the epoch from its start again, with what stands below, and "
               "calls the function for the rows that were given.",
        .attributes = WithGivenAttributes(
            "row", {{.name = "function", .type = ir::AttributeType::kReference, .doc = "The function, by name."},
                    {.name = "initial",
                     .type = ir::AttributeType::kReference,
                     .doc = "The state that an epoch begins with, by name.",
                     .referenced = ir::Referenced::kArrays},
                    {.name = "columns",
                     .type = ir::AttributeType::kStrings,
                     .doc = "The columns that the function gets after the state, in this order.",
                     .length = ir::ListLength{}}}),
        .traits = {.python = true, .ordered = true},
        .python_module = "dataset",
        .python = {.parameters = "function: Callable[..., Any], initial: Any, columns: str | Sequence[str], output: "
                                 "str | Sequence[str] | None = None, *, types: Columns | None = None",
                   .docs = {{"function",
                             "Called as `function(state, column, …)`; gives a tuple: the new state, then a value for "
                             "each output column. If it has a parameter `rng`, it gets a numpy.random.Generator for "
                             "the row."},
                            {"initial", "The state that every epoch begins with: a number or an array."},
                            {"columns"},
                            {"output", "The columns that the function gives; None: they replace `columns`."},
                            {"types",
                             "What the function gives, where known: a dict from column to dtype, or to (dtype, "
                             "shape). Rows are checked against it."}}},
        .example = "ds.scan(lambda total, label: (total + label, total + label), 0, \"label\", output=\"total\")",
        .infer = InferScan,
        // Reads all columns.
        .most_rows = ir::NoMoreRows(),
    },
    {.stream = MakeScan, .properties = [](const OpArguments& /*arguments*/, OperatorProperties& properties) {
       properties.checkpoint_counters = ReplayedOperator::kCounters;
     }});

}  // namespace
}  // namespace headrace
