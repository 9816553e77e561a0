// `FeatureFill` holds what stands for a feature that a record lacks. `CheckFeatureTypes` says which types features can
// have.
// Threads: pure functions; a fill is immutable.
#ifndef HEADRACE_OPS_SOURCE_TFRECORD_FEATURE_FILL_H_
#define HEADRACE_OPS_SOURCE_TFRECORD_FEATURE_FILL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "ir/type.h"

namespace headrace {

// kGraph: a column is not int64, float32, bytes or string, or not of a shape whose first axis, or in feature lists the
// first two, alone differ from row to row.
absl::Status CheckFeatureTypes(const ir::Columns& columns);

// The product of the dimensions, an unknown one as 1.
size_t KnownElements(absl::Span<const int64_t> shape);

struct FeatureFill {
  Shape shape = {};  // of the row's value
  // One of the three has the values, or one value that fills the shape.
  std::vector<int64_t> ints = {};
  std::vector<float> floats = {};
  std::vector<std::string> texts = {};
};

// `json`: a value of the column's type, whose axes are lists, or of a column of known shape a value that fills it. A
// float that JSON has no number for is "nan", "inf" or "-inf"; a character of bytes, U+0000 to U+00FF, is a byte.
// kGraph: it is not one.
absl::StatusOr<FeatureFill> ParseFeatureFill(std::string_view json, const ir::Column& column);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_TFRECORD_FEATURE_FILL_H_
