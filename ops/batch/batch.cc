#include <memory>
#include <utility>
#include <vector>

#include "engine/operator/operator.h"
#include "ops/batch/batch_columns.h"
#include "ops/batch/batch_operator.h"
#include "ops/batch/stacked_batch.h"

namespace headrace {
namespace {

absl::StatusOr<ir::Schema> InferBatch(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  const int64_t rows = KnownBatchRows(attributes.Int("size"), attributes.Bool("drop_remainder"));
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<BatchColumn> columns, BatchColumns(attributes, inputs[0]));
  HEADRACE_ASSIGN_OR_RETURN(ir::Schema schema, BatchSchema(columns, rows, inputs[0]));
  if (attributes.Bool("mark_padding")) AddPaddingMarks(rows, schema);
  return schema;
}

absl::StatusOr<std::unique_ptr<StreamOperator>> MakeBatch(const OpArguments& arguments) {
  const auto size = static_cast<int>(arguments.attributes.Int("size"));
  HEADRACE_ASSIGN_OR_RETURN(std::vector<BatchColumn> columns, BatchColumns(arguments.attributes, arguments.inputs[0]));
  auto rows = std::make_unique<StackedBatch>(size, std::move(columns));
  return std::make_unique<BatchOperator>(arguments, size, std::move(rows), BatchOperator::Numbered::kNo);
}

const OpRegistration batch_registration(
    {
        .name = "batch",
        .role = ir::Role::kStream,
        .summary = "Joins every `size` rows into one, along a new first axis.",
        .doc = "Rows of a column must agree in dtype and shape, else it is an error that names the row and both, "
               "unless `ragged` or `pad` says how to join them. Byte strings and strings become object arrays. The "
               "batch has the identity of its first row. The epoch's last batch may be smaller, unless "
               "`drop_remainder` is set, and so may, over groups that stay together, a batch in which rows are "
               "skipped.\n"
               "A ragged column is one whose rows differ in their first axis, such as the boxes of an image; dtype "
               "and further axes agree. \"splits\" joins its rows along that axis and adds an int64 column: "
               "`boxes` and `boxes_splits` of shape (n + 1,), where row i is "
               "`boxes[boxes_splits[i]:boxes_splits[i + 1]]`. \"list\" gives a list of the n arrays, which are views "
               "of one. `unbatch` gives the rows of both back. \"pad\" pads each axis at its end to the largest row, "
               "and rows stay padded.",
        .attributes =
            BatchAttributes({{.name = "size", .doc = "Rows in a batch.", .minimum = 1, .maximum = kMostBatchRows}}),
        .traits = {.joins_rows = true},
        .python_module = "dataset",
        .python =
            {.parameters =
                 "size: int | Callable[[BatchInfo], int], drop_remainder: bool = False, pad: bool = False, pad_value: "
                 "float | Mapping[str, float] = 0.0, *, ragged: Literal[\"list\", \"pad\", \"splits\"] | Mapping[str, "
                 "Literal[\"list\", \"pad\", \"splits\"]] | None = None, function: Callable[..., Any] | None = None, "
                 "output: str | Sequence[str] | None = None, types: Columns | None = None",
             .docs = {{"size",
                       "Rows in a batch (at least 1, at most 1,073,741,824); or a function that gives them for a "
                       "`headrace.BatchInfo`, from its number and epoch alone. Its rank is 0, as sizes are the same on "
                       "all ranks."},
                      {"drop_remainder"},
                      {"pad"},
                      {"pad_value",
                       "What padding is filled with; or a dict from column to value, where other columns are padded "
                       "with 0. Texts and bytes are padded with empty ones."},
                      {"ragged",
                       "\"list\", \"pad\" or \"splits\": how rows are joined that differ in length. \"list\" and "
                       "\"splits\" hold for the columns whose first axis the schema does not know, \"pad\" for all. A "
                       "dict from column to one of the three says it of those columns alone, with `pad=True` also of "
                       "the others."},
                      {"function",
                       "Makes the batch, in place of stacking. It gets the columns as lists of rows, one argument for "
                       "each column, in their order; if it has a parameter `info`, the batch's `headrace.BatchInfo`; "
                       "if it has a parameter `rng`, a numpy.random.Generator for the batch. It gives a dict, a tuple "
                       "in the order of `output`, or one value. A list is stacked, so its rows must agree; an array is "
                       "taken as it is, whatever its shape."},
                      {"output", "The columns that the function gives; None: as many as it gets, of the same names."},
                      {"types",
                       "What the function gives, where known: a dict from column to dtype, or to (dtype, shape), where "
                       "the shape is that of the whole batch. Batches are checked against it."}}},
        .example = "ds.batch(32, drop_remainder=True)",
        .infer = InferBatch,
        .reads = BatchReads,
    },
    {.stream = MakeBatch,
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           // Rows used of the message after the checkpoint.
           properties.checkpoint_counters = 1;
           properties.batch_rows = arguments.attributes.Int("size");
           properties.takes_batch_slots = !arguments.attributes.Bool("pad");
         },
     .cardinality =
         [](const OpArguments& arguments, absl::Span<const Cardinality> inputs) {
           return BatchesOf(inputs[0], arguments.attributes.Int("size"), arguments.attributes.Bool("drop_remainder"));
         }});

}  // namespace
}  // namespace headrace
