#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ir/suggestion.h"
#include "ops/batch_columns.h"
#include "ops/batch_operator.h"
#include "ops/grouped_batches.h"
#include "ops/stacked_batch.h"

namespace headrace {
namespace {

// Of them each message has a counter for each bucket.
constexpr size_t kMostBuckets = 1000;

bool PadsToBoundary(const ir::Attributes& attributes) { return attributes.String("pad") == "boundary"; }

// Whether the first axis of a column may be that of a sequence: it has one, of no known length.
bool MayVary(const ir::ColumnType& type) {
  return !type.shape.has_value() || (!type.shape->empty() && (*type.shape)[0] == ir::kUnknownDim);
}

class LengthBuckets : public RowGroups {
 public:
  explicit LengthBuckets(const OpArguments& arguments)
      : names_(arguments.inputs[0].Names()),
        column_(static_cast<size_t>(arguments.inputs[0].IndexOf(arguments.attributes.String("column")))),
        boundaries_(arguments.attributes.Ints("boundaries")),
        sizes_(arguments.attributes.Ints("batch_sizes")),
        value_(arguments.attributes.Number("pad_value")) {
    if (!PadsToBoundary(arguments.attributes)) return;
    for (size_t i = 0; i < names_.size(); ++i) {
      if (MayVary(arguments.inputs[0].columns[i].type)) padded_.push_back(i);
    }
  }

  absl::StatusOr<uint64_t> GroupOf(const Block& block, int row, uint64_t /*number*/) override {
    const Tensor tensor = block.columns[column_].row(row);
    if (tensor.rank() == 0) {
      return DataError("column \"", names_[column_], "\" is ", tensor.TypeName(), ": it has no first axis to measure");
    }
    const auto above = std::upper_bound(boundaries_.begin(), boundaries_.end(), tensor.dim(0));
    const auto bucket = static_cast<size_t>(above - boundaries_.begin());
    HEADRACE_RETURN_IF_ERROR(CheckFits(block, row, bucket));
    return bucket;
  }
  int SizeOf(uint64_t group) const override { return static_cast<int>(sizes_[group]); }
  std::unique_ptr<BatchRows> BatchOf(uint64_t group) const override {
    std::vector<BatchColumn> columns;
    for (const std::string& name : names_) columns.push_back({name, Joining::kPad, value_});
    for (const size_t column : padded_) columns[column].least = boundaries_[group] - 1;
    return std::make_unique<StackedBatch>(SizeOf(group), std::move(columns));
  }

 private:
  absl::Status CheckFits(const Block& block, int row, size_t bucket) const {
    if (padded_.empty()) return absl::OkStatus();
    if (bucket == boundaries_.size()) {
      return DataError("column \"", names_[column_],
                       "\" is too long for pad=\"boundary\", which pads to one below a "
                       "boundary: ",
                       block.columns[column_].row(row).dim(0), ", and the last boundary is ", boundaries_.back(),
                       "; add a boundary above it, or filter such rows");
    }
    const int64_t most = boundaries_[bucket] - 1;
    for (const size_t column : padded_) {
      const Tensor tensor = block.columns[column].row(row);
      if (tensor.rank() == 0 || tensor.dim(0) <= most) continue;
      return DataError("column \"", names_[column],
                       "\" is longer than what pad=\"boundary\" pads its row to: ", tensor.dim(0), " and ", most);
    }
    return absl::OkStatus();
  }

  const std::vector<std::string> names_;
  const size_t column_;
  const std::vector<int64_t> boundaries_;
  const std::vector<int64_t> sizes_;
  const ir::Number value_;
  std::vector<size_t> padded_;  // columns whose first axis is padded to the boundary
};

absl::Status CheckBuckets(const ir::Attributes& attributes) {
  const std::vector<int64_t> boundaries = attributes.Ints("boundaries");
  const size_t sizes = attributes.Ints("batch_sizes").size();
  if (boundaries.empty()) return GraphError("has no boundaries; give at least one, or use batch(pad=True)");
  if (boundaries.size() >= kMostBuckets) {
    return UnsupportedError("has ", boundaries.size(), " boundaries; at most ", kMostBuckets - 1, " can be given");
  }
  for (size_t i = 1; i < boundaries.size(); ++i) {
    if (boundaries[i] > boundaries[i - 1]) continue;
    return GraphError("boundaries[", i, "] is ", boundaries[i], ", not above the one before it, ", boundaries[i - 1]);
  }
  if (sizes == boundaries.size() + 1) return absl::OkStatus();
  return GraphError("has ", boundaries.size(), " boundaries and ", sizes,
                    " batch_sizes; give one size more than boundaries, the last for rows as long as the last boundary "
                    "or longer");
}

absl::StatusOr<ir::Schema> Infer(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckBuckets(attributes));
  HEADRACE_ASSIGN_OR_RETURN(const ir::Column* column, ir::FindColumn(inputs[0], attributes.String("column")));
  if (column->type.shape.has_value() && column->type.shape->empty()) {
    return GraphError("column \"", column->name, "\" is ", ir::TypeName(column->type),
                      ": it has no first axis to measure; name a column of sequences");
  }
  std::vector<BatchColumn> columns;
  for (const std::string& name : inputs[0].Names()) columns.push_back({name, Joining::kPad});
  return BatchSchema(columns, ir::kUnknownDim, inputs[0]);
}

std::vector<ir::ColumnSet> Reads(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                 const ir::ColumnSet& wanted) {
  std::vector<ir::ColumnSet> reads = ir::PassesColumns()(attributes, inputs, wanted);
  reads[0].insert(attributes.String("column"));
  return reads;
}

const OpRegistration registration(
    {
        .name = "bucket_by_length",
        .role = ir::Role::kStream,
        .summary = "Joins rows of similar length to batches.",
        .doc =
            "The length of a row is that of the first axis of `column`. Bucket i takes the lengths from "
            "boundaries[i - 1] to boundaries[i] - 1, the first from 0 on, and the last all others. Each collects a "
            "batch of its own, which is given when it is full; at the end of the epoch what is left comes in the order "
            "of the buckets. The other columns are padded as well, as by batch(pad=True). A batch has the identity of "
            "its first row. With shards each rank forms its own batches.\n"
            "A state says where the oldest row that a bucket held is, and how many rows of each bucket were given "
            "since. A restart reads from that row on again and drops what was given.\n"
            "Errors: boundaries that do not rise; another number of batch_sizes than one more than boundaries; a row "
            "whose column has no axis; with pad=\"boundary\", a row as long as the last boundary or longer, or one in "
            "which another such column is too long for the bucket. even= is refused, as ranks give different numbers "
            "of batches.",
        .attributes =
            {{.name = "column", .type = ir::AttributeType::kString, .doc = "The column whose first axis is measured."},
             {.name = "boundaries",
              .type = ir::AttributeType::kInts,
              .doc = "Lengths at which the next bucket begins, rising; at most 999.",
              .minimum = 1,
              .maximum = 1e15},
             {.name = "batch_sizes",
              .type = ir::AttributeType::kInts,
              .doc = "Rows in a batch of each bucket, one more than boundaries.",
              .minimum = 1,
              .maximum = kMostBatchRows},
             {.name = "pad",
              .type = ir::AttributeType::kString,
              .doc =
                  "\"longest\": each axis of a column is padded to the largest in the batch; \"boundary\": the first "
                  "axis, of columns in which it has no fixed length, to one below the bucket's upper boundary, so "
                  "that a bucket gives one shape.",
              .default_value = "'longest'",
              .choices = {"longest", "boundary"}},
             PadValueAttribute()},
        .traits = {.joins_rows = true},
        .python_module = "dataset",
        .example = "ds.bucket_by_length(\"tokens\", boundaries=[10, 50], batch_sizes=[64, 16, 4])",
        .infer = Infer,
        .reads = Reads,
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       const size_t buckets = arguments.attributes.Ints("batch_sizes").size();
       return std::make_unique<GroupedBatches>(std::make_unique<LengthBuckets>(arguments), buckets);
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           const size_t buckets = arguments.attributes.Ints("batch_sizes").size();
           properties.checkpoint_counters = GroupedBatches::CheckpointCounters(buckets);
         },
     .cardinality = [](const OpArguments&,
                       absl::Span<const Cardinality> inputs) { return GroupedBatches::CardinalityOf(inputs[0]); }});

}  // namespace
}  // namespace headrace
