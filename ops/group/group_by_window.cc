#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/error.h"
#include "core/seeded_hash.h"
#include "engine/operator/operator.h"
#include "ir/suggestion.h"
#include "ops/batch/batch_operator.h"
#include "ops/batch/listed_batch.h"
#include "ops/group/grouped_batches.h"
#include "ops/rows/bound_function.h"
#include "ops/rows/given_columns.h"

namespace headrace {
namespace {

bool MayBeKey(DType dtype) {
  return dtype == DType::kUnknown || dtype == DType::kBool || IsVariableLength(dtype) || IsInteger(dtype);
}

// Rows of equal keys; a group has the number of its first row.
class KeyGroups : public RowGroups {
 public:
  // `empty`: what each batch begins as.
  KeyGroups(const OpArguments& arguments, ListedBatch empty)
      : name_(arguments.attributes.String("key")),
        key_(static_cast<size_t>(arguments.inputs[0].IndexOf(name_))),
        size_(static_cast<int>(arguments.attributes.Int("size"))),
        empty_(std::move(empty)) {}

  absl::StatusOr<uint64_t> GroupOf(const Block& block, int row, uint64_t number) override {
    const Tensor tensor = block.columns[key_].row(row);
    if (tensor.rank() > 0 || !MayBeKey(tensor.dtype())) {
      return DataError("the key, column \"", name_, "\", is ", tensor.TypeName(),
                       "; it must be one whole number, bool, bytes or text");
    }
    std::string key(1, static_cast<char>(tensor.dtype()));
    if (IsVariableLength(tensor.dtype())) {
      key += tensor.bytes_value();
    } else {
      key.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
    }
    const auto [found, added] = numbers_.try_emplace(std::move(key), number);
    if (added) keys_.emplace(number, found->first);
    return found->second;
  }
  int SizeOf(uint64_t /*group*/) const override { return size_; }
  std::unique_ptr<BatchRows> BatchOf(uint64_t /*group*/) const override {
    return std::make_unique<ListedBatch>(empty_);
  }
  void Emptied(uint64_t group) override {
    const auto found = keys_.find(group);
    if (found == keys_.end()) return;
    numbers_.erase(found->second);
    keys_.erase(found);
  }

 private:
  const std::string name_;  // of the key
  const size_t key_;
  const int size_;
  const ListedBatch empty_;
  absl::flat_hash_map<std::string, uint64_t, SeededHash> numbers_;
  absl::flat_hash_map<uint64_t, std::string, SeededHash> keys_;
};

absl::StatusOr<ir::Schema> InferGroupByWindow(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(const ir::Column* key, ir::FindColumn(inputs[0], attributes.String("key")));
  const bool array = key->type.shape.has_value() && !key->type.shape->empty();
  if (array || !MayBeKey(key->type.dtype)) {
    return GraphError("the key, column \"", key->name, "\", is ", ir::TypeName(key->type),
                      "; it must be one whole number, bool, bytes or text: make such a column with map");
  }
  ir::Schema schema = inputs[0];
  HEADRACE_ASSIGN_OR_RETURN(schema.columns, GivenColumns(attributes, inputs[0]));
  return schema;
}

absl::StatusOr<std::unique_ptr<StreamOperator>> Make(const OpArguments& arguments) {
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<HostFunction> function,
                            BoundFunction(*arguments.run->bindings, arguments.attributes.ReferenceName("function")));
  HEADRACE_ASSIGN_OR_RETURN(ir::Columns given, GivenColumns(arguments.attributes, arguments.inputs[0]));
  ListedBatch empty(arguments, std::move(function), std::move(given), arguments.attributes.Bool("random"));
  auto groups = std::make_unique<KeyGroups>(arguments, std::move(empty));
  return std::make_unique<GroupedBatches>(std::move(groups), /*known=*/0, arguments.lists_rows);
}

const OpRegistration group_by_window_registration(
    {
        .name = "group_by_window",
        .role = ir::Role::kStream,
        .summary = "Joins rows of equal keys to batches that a Python function makes.",
        .doc =
            "The rows of each key collect until there are `size`, and the function makes a batch of them; at the end "
            "of the epoch it is called for what is left, in the order in which the keys' first rows came. The key is a "
            "column of single whole numbers, bools, bytes or texts. At most `size` rows of each key are held. The "
            "function is called on a thread of the stage's own, in the order of the batches, for no epoch that was not "
            "asked for. The batch has the identity of its first row. With shards each rank groups its own rows, and "
            "even= is refused.\n"
            "A state over random access and one-to-one maps lists the rows that are held, and a restart makes these "
            "alone again. Over anything else, and where more than 16,384 rows are held, it holds the number of batches "
            "given: a restart reads the epoch from its start again, with what stands below, and forms these batches "
            "without calling the function.",
        .attributes = WithGivenAttributes(
            "batch", {{.name = "key",
                       .type = ir::AttributeType::kString,
                       .doc = "The column whose equal values belong together."},
                      {.name = "size", .doc = "Rows in a full batch.", .minimum = 1, .maximum = kMostBatchRows},
                      {.name = "function",
                       .type = ir::AttributeType::kReference,
                       .doc = "The function that makes a batch, by name.",
                       .referenced = ir::Referenced::kBatchFunction}}),
        .traits = {.python = true, .ordered = true, .joins_rows = true},
        .python_module = "dataset",
        .python =
            {.parameters = "key: str, size: int, function: Callable[..., Any], output: str | Sequence[str] | None = "
                           "None, *, types: Columns | None = None",
             .docs = {{"key", "The column whose equal values belong together; make it with `map` where there is none."},
                      {"size"},
                      {"function",
                       "Makes the batch, as that of `batch` does. It gets the columns as lists of rows, one argument "
                       "for each column, in their order; if it has a parameter `info`, the batch's "
                       "`headrace.BatchInfo`; if it has a parameter `rng`, a numpy.random.Generator for the batch. It "
                       "gives a dict, a tuple in the order of `output`, or one value. A list is stacked, so its rows "
                       "must agree; an array is taken as it is, whatever its shape."},
                      {"output", "The columns that the function gives; None: as many as it gets, of the same names."},
                      {"types",
                       "What the function gives, where known: a dict from column to dtype, or to (dtype, shape), where "
                       "the shape is that of the whole batch. Batches are checked against it."}}},
        .example = "ds.group_by_window(\"label\", 4, lambda image, label: (image, label))",
        .infer = InferGroupByWindow,
        // Reads all columns, because the function gets them.
    },
    {.stream = Make,
     .properties = [](const OpArguments& /*arguments*/,
                      OperatorProperties& properties) { GroupedBatches::SetCounters(/*known=*/0, properties); },
     .cardinality = [](const OpArguments&,
                       absl::Span<const Cardinality> inputs) { return GroupedBatches::CardinalityOf(inputs[0]); }});

}  // namespace
}  // namespace headrace
