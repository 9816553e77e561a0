// `MakeJsonColumns` makes columns from JSON: each record is an object, and a column has the value of its key, of the
// type declared. A column `a.b` has the value of the key b in the object of the key a, if no key is named a.b itself.
// Threads: one thread at a time.
#ifndef HEADRACE_OPS_SOURCE_LINES_JSON_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_LINES_JSON_COLUMNS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "ir/type.h"
#include "ops/source/class_names.h"
#include "ops/source/split_source.h"

namespace headrace {

// For each column, the JSON that null stands for, or an object without its key; nullopt: nothing, which is an error.
// NaN, Infinity and -Infinity, as Python writes them, stand for single floats.
using JsonMissing = std::vector<std::optional<std::string>>;

// kGraph: such a JSON is no value of its column. `columns` and `missing` are of the same length.
absl::Status CheckMissing(const ir::Columns& columns, const JsonMissing& missing);

// What messages call an object, and where the types of its columns are stated.
struct JsonWords {
  std::string record = "line";
  std::string stated = "stated by columns={…} or inferred from the first lines";
  std::string statement = "columns={";  // what comes before a column and its type
  std::string rest = ", …}";            // what comes after them
  std::string prefix = {};              // of a column's name in `missing`
};

// The values of `columns` in one object, in their order. kData: it is no JSON, has no value for a column, or one of
// another type. A whole number fits each dtype that holds it exactly; a number with a fraction or an exponent is
// rounded to a float dtype whose range has it, and one beyond 64 bits is held by a float dtype or not at all; other
// values are exactly of their type. Of a key that comes twice the last counts.
absl::Status ParseRow(std::string_view object, const ir::Columns& columns, const JsonMissing& missing,
                      absl::Span<Tensor> values, const JsonWords& words = {});
// The value of a column that is all of `text`, as ParseRow reads one.
absl::StatusOr<Tensor> ParseJsonValue(std::string_view text, const ir::Column& column,
                                      const std::optional<std::string>& missing, const JsonWords& words);

// Columns that have `classes` are of texts in `columns`, and give the numbers of their classes.
std::unique_ptr<RecordColumns> MakeJsonColumns(ir::Columns columns, JsonMissing missing, ClassTables classes);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_LINES_JSON_COLUMNS_H_
