// Batches of rows that bucket_order gives: each run becomes one. A batch pads its own rows, so it needs no more than
// they are.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/operator/operator.h"
#include "ir/suggestion.h"
#include "ops/batch/batch_columns.h"
#include "ops/batch/batch_operator.h"
#include "ops/batch/stacked_batch.h"
#include "ops/rows/length_buckets.h"

namespace headrace {
namespace {

// Pads the first axis to one below the boundary above the longest row of the column that is measured.
class BoundaryBatch : public StackedBatch {
 public:
  BoundaryBatch(const OpArguments& arguments, const LengthBuckets& buckets, std::vector<BatchColumn> columns)
      : StackedBatch(buckets.LargestSize(), std::move(columns)),
        buckets_(buckets),
        names_(arguments.inputs[0].Names()),
        measured_(static_cast<size_t>(arguments.inputs[0].IndexOf(arguments.attributes.String("column")))),
        padded_(ColumnsToBoundary(arguments.inputs[0])),
        longest_(names_.size()) {}

 protected:
  void AddRows(Block& block, int from, int count) override {
    for (const size_t column : padded_) {
      for (int row = from; row < from + count; ++row) {
        const Tensor tensor = block.columns[column].row(row);
        if (tensor.rank() > 0) longest_[column] = std::max(longest_[column], tensor.dim(0));
      }
    }
    StackedBatch::AddRows(block, from, count);
  }

  absl::Status JoinColumns(const BatchNumber& batch, Block& block) override {
    const size_t bucket = buckets_.Of(longest_[measured_]);
    if (!buckets_.bounded(bucket)) return TooLongForBoundaries(names_[measured_], longest_[measured_], buckets_);
    const int64_t most = buckets_.LongestOf(bucket);
    for (const size_t column : padded_) {
      if (longest_[column] > most) return TooLongForBucket(names_[column], longest_[column], most);
      PadTo(column, most);
    }
    return StackedBatch::JoinColumns(batch, block);
  }

  void ClearColumns() override {
    longest_.assign(longest_.size(), 0);
    StackedBatch::ClearColumns();
  }

 private:
  const LengthBuckets buckets_;
  const std::vector<std::string> names_;
  const size_t measured_;
  const std::vector<size_t> padded_;  // columns whose first axis is padded to the boundary
  std::vector<int64_t> longest_;      // of each column, of the rows so far
};

absl::StatusOr<ir::Schema> InferBucketBatch(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  HEADRACE_RETURN_IF_ERROR(LengthBuckets::Check(attributes));
  // The lengths were given: the column's own count for padding to the boundary alone.
  HEADRACE_RETURN_IF_ERROR(ir::FindColumn(inputs[0], attributes.String("column")).status());
  if (PadsToBoundary(attributes)) HEADRACE_RETURN_IF_ERROR(CheckMeasuredColumn(attributes, inputs[0]));
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<BatchColumn> columns, PaddedColumns(attributes, inputs[0]));
  HEADRACE_ASSIGN_OR_RETURN(ir::Schema schema, BatchSchema(columns, ir::kUnknownDim, inputs[0]));
  if (attributes.Bool("mark_padding")) AddPaddingMarks(ir::kUnknownDim, schema);
  return schema;
}

absl::StatusOr<std::unique_ptr<StreamOperator>> MakeBucketBatch(const OpArguments& arguments) {
  const LengthBuckets buckets(arguments.attributes);
  const int size = buckets.LargestSize();
  HEADRACE_ASSIGN_OR_RETURN(std::vector<BatchColumn> columns, PaddedColumns(arguments.attributes, arguments.inputs[0]));
  std::unique_ptr<BatchRows> rows;
  if (PadsToBoundary(arguments.attributes)) {
    rows = std::make_unique<BoundaryBatch>(arguments, buckets, std::move(columns));
  } else {
    rows = std::make_unique<StackedBatch>(size, std::move(columns));
  }
  return std::make_unique<BatchOperator>(arguments, size, std::move(rows), BatchOperator::Numbered::kNo, nullptr,
                                         BatchOperator::Runs::kUneven);
}

std::vector<ir::Attribute> Attributes() {
  std::vector<ir::Attribute> attributes = BucketAttributes();
  attributes.insert(attributes.begin(), MeasuredColumnAttribute());
  attributes.push_back(BucketPadAttribute());
  AddPadValues(attributes);
  attributes.push_back(MarkPaddingAttribute());
  return attributes;
}

const OpRegistration bucket_batch_registration(
    {
        .name = "bucket_batch",
        .role = ir::Role::kStream,
        .summary = "Joins the rows of each batch that bucket_order formed.",
        .doc = "It stands for ds.bucket_by_length with length=, above bucket_order: each run of its rows becomes a "
               "batch, padded as bucket_by_length does it. With pad=\"boundary\" it is padded to one below the "
               "boundary above the longest row that it has in `column`. A batch has the identity of its first row. "
               "Rows that are "
               "skipped leave it shorter.",
        .attributes = Attributes(),
        .traits = {.joins_rows = true},
        .python_module = "internal",
        .example = "ds.bucket_by_length(\"tokens\", [10, 50], [64, 16, 4], length=lengths)",
        .infer = InferBucketBatch,
        .reads = BucketReads,
    },
    {.stream = MakeBucketBatch,
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           // Rows used of the message after the checkpoint.
           properties.checkpoint_counters = 1;
           properties.batch_rows = LengthBuckets(arguments.attributes).LargestSize();
         },
     .cardinality =
         [](const OpArguments& arguments, absl::Span<const Cardinality> inputs) {
           return BatchesOf(inputs[0], LengthBuckets(arguments.attributes).LargestSize(), false);
         }});

}  // namespace
}  // namespace headrace
