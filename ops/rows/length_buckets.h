// `LengthBuckets` sorts rows into buckets by their lengths: [0, b₀), [b₀, b₁) … [b_last, ∞), each with a batch size of
// its own.
// Threads: a value.
#ifndef HEADRACE_OPS_ROWS_LENGTH_BUCKETS_H_
#define HEADRACE_OPS_ROWS_LENGTH_BUCKETS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"

namespace headrace {

class LengthBuckets {
 public:
  // The attributes `boundaries` and `batch_sizes`, which Check holds right.
  explicit LengthBuckets(const ir::Attributes& attributes);
  // kGraph if boundaries do not rise, or there is another number of sizes than one more.
  static absl::Status Check(const ir::Attributes& attributes);

  size_t count() const { return sizes_.size(); }
  size_t Of(int64_t length) const;
  // The rows of a full batch.
  int SizeOf(size_t bucket) const { return static_cast<int>(sizes_[bucket]); }
  int LargestSize() const;
  // The last bucket has no upper boundary.
  bool bounded(size_t bucket) const { return bucket < boundaries_.size(); }
  // The longest row of a bounded bucket.
  int64_t LongestOf(size_t bucket) const { return boundaries_[bucket] - 1; }
  int64_t last_boundary() const { return boundaries_.back(); }

 private:
  std::vector<int64_t> boundaries_;
  std::vector<int64_t> sizes_;
};

// `boundaries` and `batch_sizes`.
std::vector<ir::Attribute> BucketAttributes();
// `column`, whose first axis is measured.
ir::Attribute MeasuredColumnAttribute();
// kGraph if it is not there, or is known to have no first axis.
absl::Status CheckMeasuredColumn(const ir::Attributes& attributes, const ir::Schema& rows);
// The columns wanted, the one that is measured, and those with a padding of their own.
std::vector<ir::ColumnSet> BucketReads(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                       const ir::ColumnSet& wanted);
// `pad`, of a batch of a bucket.
ir::Attribute BucketPadAttribute();
bool PadsToBoundary(const ir::Attributes& attributes);
// The columns that are padded to the boundary: those whose first axis has no fixed length.
std::vector<size_t> ColumnsToBoundary(const ir::Schema& rows);
// kData: a row of the measured column is as long as the last boundary.
absl::Status TooLongForBoundaries(const std::string& column, int64_t length, const LengthBuckets& buckets);
// kData: a row of another column is longer than the longest of its bucket.
absl::Status TooLongForBucket(const std::string& column, int64_t length, int64_t longest);

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_LENGTH_BUCKETS_H_
