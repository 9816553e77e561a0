#include "ops/rows/length_buckets.h"

#include <algorithm>

#include "core/error.h"
#include "ir/suggestion.h"

namespace headrace {
namespace {

// Of them each message of bucket_by_length has a counter for each bucket.
constexpr size_t kMostBuckets = 1000;

constexpr int64_t kMostRows = int64_t{1} << 30;

bool MayVary(const ir::ColumnType& type) {
  return !type.shape.has_value() || (!type.shape->empty() && (*type.shape)[0] == ir::kUnknownDim);
}

}  // namespace

LengthBuckets::LengthBuckets(const ir::Attributes& attributes)
    : boundaries_(attributes.Ints("boundaries")), sizes_(attributes.Ints("batch_sizes")) {}

absl::Status LengthBuckets::Check(const ir::Attributes& attributes) {
  const std::vector<int64_t> boundaries = attributes.Ints("boundaries");
  const size_t sizes = attributes.Ints("batch_sizes").size();
  for (size_t i = 1; i < boundaries.size(); ++i) {
    if (boundaries[i] > boundaries[i - 1]) continue;
    return GraphError("boundaries[", i, "] is ", boundaries[i], ", not above the one before it, ", boundaries[i - 1]);
  }
  if (sizes == boundaries.size() + 1) return absl::OkStatus();
  return GraphError("has ", boundaries.size(), " boundaries and ", sizes,
                    " batch_sizes; give one size more than boundaries, the last for rows as long as the last boundary "
                    "or longer");
}

size_t LengthBuckets::Of(int64_t length) const {
  return static_cast<size_t>(std::upper_bound(boundaries_.begin(), boundaries_.end(), length) - boundaries_.begin());
}

int LengthBuckets::LargestSize() const { return static_cast<int>(*std::max_element(sizes_.begin(), sizes_.end())); }

std::vector<ir::Attribute> BucketAttributes() {
  return {{.name = "boundaries",
           .type = ir::AttributeType::kInts,
           .doc = "Lengths at which the next bucket begins, rising; at most 999.",
           .minimum = 1,
           .maximum = 1e15,
           .length = ir::ListLength{1, kMostBuckets - 1}},
          {.name = "batch_sizes",
           .type = ir::AttributeType::kInts,
           .doc = "Rows in a batch of each bucket, one more than boundaries.",
           .minimum = 1,
           .maximum = kMostRows,
           .length = ir::ListLength{1, kMostBuckets}}};
}

ir::Attribute MeasuredColumnAttribute() {
  return {.name = "column", .type = ir::AttributeType::kString, .doc = "The column whose first axis is measured."};
}

absl::Status CheckMeasuredColumn(const ir::Attributes& attributes, const ir::Schema& rows) {
  HEADRACE_ASSIGN_OR_RETURN(const ir::Column* column, ir::FindColumn(rows, attributes.String("column")));
  if (!column->type.shape.has_value() || !column->type.shape->empty()) return absl::OkStatus();
  return GraphError("column \"", column->name, "\" is ", ir::TypeName(column->type),
                    ": it has no first axis to measure; name a column of sequences");
}

std::vector<ir::ColumnSet> BucketReads(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                       const ir::ColumnSet& wanted) {
  std::vector<ir::ColumnSet> reads = ir::PassesColumns()(attributes, inputs, wanted);
  reads[0].insert(attributes.String("column"));
  for (const std::string& name : attributes.Strings("pad_columns")) reads[0].insert(name);
  return reads;
}

ir::Attribute BucketPadAttribute() {
  return {.name = "pad",
          .type = ir::AttributeType::kString,
          .doc =
              "\"longest\": each axis of a column is padded to the largest in the batch; \"boundary\": the first "
              "axis, of columns in which it has no fixed length, to one below the bucket's upper boundary, so "
              "that a bucket gives one shape.",
          .default_value = "'longest'",
          .choices = {"longest", "boundary"}};
}

bool PadsToBoundary(const ir::Attributes& attributes) { return attributes.String("pad") == "boundary"; }

std::vector<size_t> ColumnsToBoundary(const ir::Schema& rows) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    if (MayVary(rows.columns[i].type)) columns.push_back(i);
  }
  return columns;
}

absl::Status TooLongForBoundaries(const std::string& column, int64_t length, const LengthBuckets& buckets) {
  return DataError(
      "column \"", column, "\" is too long for pad=\"boundary\", which pads to one below a boundary: ", length,
      ", and the last boundary is ", buckets.last_boundary(), "; add a boundary above it, or leave such rows out");
}

absl::Status TooLongForBucket(const std::string& column, int64_t length, int64_t longest) {
  return DataError("column \"", column, "\" is longer than what pad=\"boundary\" pads its row to: ", length, " and ",
                   longest, "; give it a fixed first axis, or use pad=\"longest\"");
}

}  // namespace headrace
