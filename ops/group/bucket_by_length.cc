#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ops/batch/batch_columns.h"
#include "ops/batch/batch_operator.h"
#include "ops/batch/stacked_batch.h"
#include "ops/group/grouped_batches.h"
#include "ops/rows/length_buckets.h"

namespace headrace {
namespace {

class BucketGroups : public RowGroups {
 public:
  BucketGroups(const OpArguments& arguments, std::vector<BatchColumn> columns)
      : columns_(std::move(columns)),
        column_(static_cast<size_t>(arguments.inputs[0].IndexOf(arguments.attributes.String("column")))),
        buckets_(arguments.attributes) {
    if (PadsToBoundary(arguments.attributes)) padded_ = ColumnsToBoundary(arguments.inputs[0]);
  }

  absl::StatusOr<uint64_t> GroupOf(const Block& block, int row, uint64_t /*number*/) override {
    const Tensor tensor = block.columns[column_].row(row);
    if (tensor.rank() == 0) {
      return DataError("column \"", columns_[column_].name, "\" is ", tensor.TypeName(),
                       ": it has no first axis to measure");
    }
    const size_t bucket = buckets_.Of(tensor.dim(0));
    HEADRACE_RETURN_IF_ERROR(CheckFits(block, row, bucket));
    return bucket;
  }
  int SizeOf(uint64_t group) const override { return buckets_.SizeOf(group); }
  std::unique_ptr<BatchRows> BatchOf(uint64_t group) const override {
    std::vector<BatchColumn> columns = columns_;
    for (const size_t column : padded_) columns[column].least = buckets_.LongestOf(group);
    return std::make_unique<StackedBatch>(SizeOf(group), std::move(columns));
  }

 private:
  absl::Status CheckFits(const Block& block, int row, size_t bucket) const {
    if (padded_.empty()) return absl::OkStatus();
    if (!buckets_.bounded(bucket)) {
      return TooLongForBoundaries(columns_[column_].name, block.columns[column_].row(row).dim(0), buckets_);
    }
    const int64_t most = buckets_.LongestOf(bucket);
    for (const size_t column : padded_) {
      const Tensor tensor = block.columns[column].row(row);
      if (tensor.rank() == 0 || tensor.dim(0) <= most) continue;
      return TooLongForBucket(columns_[column].name, tensor.dim(0), most);
    }
    return absl::OkStatus();
  }

  const std::vector<BatchColumn> columns_;
  const size_t column_;
  const LengthBuckets buckets_;
  std::vector<size_t> padded_;  // columns whose first axis is padded to the boundary
};

std::vector<ir::Attribute> Attributes() {
  std::vector<ir::Attribute> attributes = BucketAttributes();
  attributes.insert(attributes.begin(), MeasuredColumnAttribute());
  attributes.push_back(BucketPadAttribute());
  AddPadValues(attributes);
  return attributes;
}

absl::StatusOr<ir::Schema> InferBucketByLength(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  HEADRACE_RETURN_IF_ERROR(LengthBuckets::Check(attributes));
  HEADRACE_RETURN_IF_ERROR(CheckMeasuredColumn(attributes, inputs[0]));
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<BatchColumn> columns, PaddedColumns(attributes, inputs[0]));
  return BatchSchema(columns, ir::kUnknownDim, inputs[0]);
}

const OpRegistration bucket_by_length_registration(
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
            "Where `length` gives the lengths, batches are formed before a row is read, over shuffles, samplers, take, "
            "skip, concat, zip and mix of sources with random access, and one-to-one maps, and are the same for any "
            "number of ranks: rank r gets the batches r, r + world, …. Then even= takes away or repeats whole batches, "
            "a state is one position and restores with any number of ranks, len() is known, and a batch in which rows "
            "are skipped is given shorter and takes no row of the next.\n"
            "Without `length` a state over random access and one-to-one maps lists the rows that buckets hold, and a "
            "restart makes these alone again. Over anything else it says where the oldest row that a bucket held is, "
            "and how many rows of each bucket were given since; a restart reads from that row on again and drops what "
            "was given.\n"
            "Errors: boundaries that do not rise; another number of batch_sizes than one more than boundaries; a row "
            "whose column has no axis; with pad=\"boundary\", a row as long as the last boundary or longer, or one in "
            "which another such column is too long for the bucket; without `length`, even=, as ranks give different "
            "numbers of batches; with it, another number of lengths than of rows, and operators below that add, drop "
            "or hold back rows.",
        .attributes = Attributes(),
        .traits = {.joins_rows = true},
        .python_module = "dataset",
        .python = {.parameters = "column: str, boundaries: int | Sequence[int], batch_sizes: int | Sequence[int], pad: "
                                 "Literal[\"longest\", \"boundary\"] = \"longest\", pad_value: float | "
                                 "Mapping[str, float] = 0.0, *, length: Any = None",
                   .docs = {{"column"},
                            {"boundaries"},
                            {"batch_sizes"},
                            {"pad"},
                            {"pad_value",
                             "What padding is filled with; or a dict from column to value, where other columns are "
                             "padded with 0. Texts and bytes are padded with empty ones."},
                            {"length",
                             "The lengths by which batches are formed: the name of a column of the source, or a number "
                             "for each row, as a list or an array, in the order that the source has without shuffling. "
                             "None: they are measured as rows come."}}},
        .example = "ds.bucket_by_length(\"tokens\", boundaries=[10, 50], batch_sizes=[64, 16, 4])",
        .infer = InferBucketByLength,
        .reads = BucketReads,
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       const size_t buckets = arguments.attributes.Ints("batch_sizes").size();
       HEADRACE_ASSIGN_OR_RETURN(std::vector<BatchColumn> columns,
                                 PaddedColumns(arguments.attributes, arguments.inputs[0]));
       return std::make_unique<GroupedBatches>(std::make_unique<BucketGroups>(arguments, std::move(columns)), buckets,
                                               arguments.lists_rows);
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           GroupedBatches::SetCounters(arguments.attributes.Ints("batch_sizes").size(), properties);
         },
     .cardinality = [](const OpArguments&,
                       absl::Span<const Cardinality> inputs) { return GroupedBatches::CardinalityOf(inputs[0]); }});

}  // namespace
}  // namespace headrace
