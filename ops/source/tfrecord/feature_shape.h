// `FitFeature` finds the shape that the values of a feature have in a row, by the type of its column.
// Threads: pure functions.
#ifndef HEADRACE_OPS_SOURCE_TFRECORD_FEATURE_SHAPE_H_
#define HEADRACE_OPS_SOURCE_TFRECORD_FEATURE_SHAPE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "io/formats/tfrecord/feature_values.h"
#include "ir/type.h"

namespace headrace {

// The kind of values that a column of that type is made of.
FeatureKind KindOfFeature(DType dtype);

// The type as a user of Python states it: ("float32", (None, 4)), and with what stands for a missing one ("int64", (),
// 0).
std::string FeatureTypeText(DType dtype, absl::Span<const int64_t> shape, std::string_view fill = "");

// Sets the shape, whose product is the number of values. kData: they are of another kind, or their number is that of no
// such shape.
absl::Status FitFeature(const ir::Column& column, const FeatureValues& values, Shape& shape);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_TFRECORD_FEATURE_SHAPE_H_
