// Columns made from JSON: each record is an object, and a column has the value of its key, of the type declared.
// Thread contract: one thread at a time.
#ifndef HEADRACE_OPS_SOURCE_JSON_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_JSON_COLUMNS_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "ir/type.h"
#include "ops/source/split_source.h"

namespace headrace {

// "label int64", "box float32 (4,)", "words string (None,)": a name, NumPy's name of the dtype, and a shape with None
// for a dimension that differs from row to row; without a shape, a single value. kGraph if it is none of these.
absl::StatusOr<ir::Column> ParseField(std::string_view text);

// The values of `columns` in one object, in their order. kData: it is no JSON, has no value for a column, or one of
// another type. A whole number fits each dtype that holds it exactly; a number with a fraction or an exponent is
// rounded to a float dtype whose range has it; other values are exactly of their type. Of a key that comes twice the
// last counts.
absl::Status ParseRow(std::string_view object, const ir::Columns& columns, absl::Span<Tensor> values);

std::unique_ptr<RecordColumns> MakeJsonColumns(ir::Columns columns);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_JSON_COLUMNS_H_
