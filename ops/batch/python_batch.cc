#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/output_allocator.h"
#include "core/text.h"
#include "engine/operator/operator.h"
#include "ir/mark_padding.h"
#include "ir/ragged_columns.h"
#include "ops/batch/batch_columns.h"
#include "ops/batch/batch_operator.h"
#include "ops/batch/listed_batch.h"
#include "ops/batch/stacked_batch.h"
#include "ops/rows/bound_function.h"
#include "ops/rows/given_columns.h"

namespace headrace {
namespace {

// Calls the user's function for the size of each batch.
class ChosenSizes : public BatchSizes {
 public:
  ChosenSizes(std::shared_ptr<HostFunction> function, uint64_t epoch_cycle)
      : function_(std::move(function)), epoch_cycle_(epoch_cycle), input_(epoch_cycle, /*rank=*/0) {}

  absl::StatusOr<int> SizeOf(const BatchNumber& batch) override {
    absl::StatusOr<int> size = Call(batch);
    if (size.ok()) return size;
    absl::Status error = size.status();
    const uint64_t epoch = RowEpochOf(batch.epoch, epoch_cycle_);
    AddErrorField(error, ErrorField::kRow, Cat("the size of batch ", batch.number, " of epoch ", epoch));
    return error;
  }

 private:
  absl::StatusOr<int> Call(const BatchNumber& batch) const {
    HEADRACE_ASSIGN_OR_RETURN(const Tensor input, input_.At(batch, /*rows=*/0, /*columns=*/0));
    OutputAllocator output;
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<Tensor> given, function_->Call({&input, 1}, nullptr, output));
    const bool whole = given.size() == 1 && given[0].rank() == 0 && given[0].dtype() == DType::kInt64;
    if (whole && given[0].value<int64_t>() >= 1 && given[0].value<int64_t>() <= kMostBatchRows) {
      return static_cast<int>(given[0].value<int64_t>());
    }
    return GraphError("size gave ", Given(given), " for batch ", batch.number, " of epoch ",
                      RowEpochOf(batch.epoch, epoch_cycle_), "; it must give a whole number from 1 to ",
                      kMostBatchRows);
  }

  // A front end gives what is no number as a text that shows it.
  static std::string Given(const std::vector<Tensor>& given) {
    if (given.size() != 1) return Cat(given.size(), " values");
    const Tensor& value = given[0];
    if (value.rank() == 0 && value.dtype() == DType::kString) return std::string(value.bytes_value());
    if (value.rank() == 0 && value.dtype() == DType::kInt64) return Cat(value.value<int64_t>());
    return value.TypeName();
  }

  const std::shared_ptr<HostFunction> function_;
  const uint64_t epoch_cycle_;
  const BatchNumberInput input_;
};

bool HasFunction(const ir::Attributes& attributes) { return !attributes.IsNone("function"); }
bool ChoosesSizes(const ir::Attributes& attributes) { return !attributes.IsNone("choose_size"); }

absl::Status CheckAttributes(const ir::Attributes& attributes) {
  if (attributes.IsNone("size") != ChoosesSizes(attributes)) {
    return GraphError("needs a size, or a function that chooses it, and not both");
  }
  if (HasFunction(attributes)) return RefuseJoining(attributes);
  if (!ChoosesSizes(attributes)) return GraphError("calls no function; use batch");
  if (attributes.IsNone("output") && attributes.IsNone("types")) return absl::OkStatus();
  return GraphError("output and types say what a function gives; give function=, too");
}

// Of batches that are stacked, or of the marks of one that a function makes.
int64_t RowsOf(const ir::Attributes& attributes) {
  if (ChoosesSizes(attributes)) return ir::kUnknownDim;
  return KnownBatchRows(attributes.Int("size"), attributes.Bool("drop_remainder"));
}

absl::StatusOr<ir::Schema> InferPythonBatch(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckAttributes(attributes));
  ir::Schema schema = inputs[0];
  if (HasFunction(attributes)) {
    HEADRACE_RETURN_IF_ERROR(ir::RefuseLists(inputs[0], inputs[0].Names(), "batched again"));
    HEADRACE_ASSIGN_OR_RETURN(schema.columns, GivenColumns(attributes, inputs[0]));
  } else {
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<BatchColumn> columns, BatchColumns(attributes, inputs[0]));
    HEADRACE_ASSIGN_OR_RETURN(schema, BatchSchema(columns, RowsOf(attributes), inputs[0]));
  }
  if (!attributes.Bool("mark_padding")) return schema;
  if (schema.IndexOf(ir::kPaddingColumn) >= 0) {
    return GraphError("gives a column \"", ir::kPaddingColumn, "\", which even=\"pad\" adds; give it another name");
  }
  AddPaddingMarks(RowsOf(attributes), schema);
  return schema;
}

std::vector<ir::ColumnSet> Reads(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                 const ir::ColumnSet& wanted) {
  if (!HasFunction(attributes)) return BatchReads(attributes, inputs, wanted);
  const std::vector<std::string> all = inputs[0].Names();
  return {ir::ColumnSet(all.begin(), all.end())};
}

absl::StatusOr<std::unique_ptr<BatchRows>> MakeRows(const OpArguments& arguments) {
  const ir::Attributes& attributes = arguments.attributes;
  if (!HasFunction(attributes)) {
    HEADRACE_ASSIGN_OR_RETURN(std::vector<BatchColumn> columns, BatchColumns(attributes, arguments.inputs[0]));
    return std::make_unique<StackedBatch>(1, std::move(columns));
  }
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<HostFunction> function,
                            BoundFunction(*arguments.run->bindings, attributes.ReferenceName("function")));
  HEADRACE_ASSIGN_OR_RETURN(ir::Columns given, GivenColumns(attributes, arguments.inputs[0]));
  return std::make_unique<ListedBatch>(arguments, std::move(function), std::move(given), attributes.Bool("random"));
}

absl::StatusOr<std::unique_ptr<StreamOperator>> MakePythonBatch(const OpArguments& arguments) {
  const ir::Attributes& attributes = arguments.attributes;
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<BatchRows> rows, MakeRows(arguments));
  constexpr auto kNumbered = BatchOperator::Numbered::kYes;
  if (!ChoosesSizes(attributes)) {
    const auto size = static_cast<int>(attributes.Int("size"));
    rows->SetSize(size);
    return std::make_unique<BatchOperator>(arguments, size, std::move(rows), kNumbered);
  }
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<HostFunction> choose,
                            BoundFunction(*arguments.run->bindings, attributes.ReferenceName("choose_size")));
  auto sizes = std::make_unique<ChosenSizes>(std::move(choose), arguments.epoch_cycle);
  return std::make_unique<BatchOperator>(arguments, 0, std::move(rows), kNumbered, std::move(sizes));
}

Cardinality Batches(const OpArguments& arguments, absl::Span<const Cardinality> inputs) {
  const ir::Attributes& attributes = arguments.attributes;
  if (!ChoosesSizes(attributes)) {
    return BatchesOf(inputs[0], attributes.Int("size"), attributes.Bool("drop_remainder"));
  }
  const bool none = inputs[0].known() && inputs[0].rows == 0;
  return none || inputs[0].kind == Cardinality::Kind::kEndless ? inputs[0] : Cardinality::Unknown();
}

const OpRegistration python_batch_registration(
    {
        .name = "python_batch",
        .role = ir::Role::kStream,
        .summary = "Joins rows to batches that a Python function makes, or whose sizes one chooses.",
        .doc = "It stands for ds.batch with a function: the function of a batch gets the columns as lists of rows and "
               "gives the batch's columns, of any shape and number; the one that chooses sizes gives the rows of a "
               "batch for its number and epoch. Both are called on a thread of the stage's own, in the order of the "
               "batches, for no epoch that was not asked for. The batch has the identity of its first row. What they "
               "raise reaches the training loop as FunctionError and names the batch.",
        .attributes = BatchAttributes(
            WithGivenAttributes("batch", {{.name = "size",
                                           .doc = "Rows in a batch; None: they are chosen.",
                                           .default_value = "None",
                                           .nullable = true,
                                           .minimum = 1,
                                           .maximum = kMostBatchRows},
                                          {.name = "choose_size",
                                           .type = ir::AttributeType::kReference,
                                           .doc = "The function that gives the rows of each batch, by name.",
                                           .default_value = "None",
                                           .nullable = true,
                                           .referenced = ir::Referenced::kBatchSize},
                                          {.name = "function",
                                           .type = ir::AttributeType::kReference,
                                           .doc = "The function that makes a batch, by name; None: rows are stacked.",
                                           .default_value = "None",
                                           .nullable = true,
                                           .referenced = ir::Referenced::kBatchFunction}})),
        .traits = {.python = true, .ordered = true, .joins_rows = true},
        .python_module = "internal",
        .example = "ds.batch(4, function=lambda image, label: (image, label))",
        .infer = InferPythonBatch,
        .reads = Reads,
    },
    {.stream = MakePythonBatch,
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           // The number of the next batch, and rows used of the message after the checkpoint.
           properties.checkpoint_counters = 2;
           if (!ChoosesSizes(arguments.attributes)) properties.batch_rows = arguments.attributes.Int("size");
         },
     .cardinality = Batches});

}  // namespace
}  // namespace headrace
