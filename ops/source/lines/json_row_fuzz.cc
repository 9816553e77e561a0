// Fuzzes lines of JSON: any bytes are a row of the declared types, or an error of the data.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "ops/source/declared_fields.h"
#include "ops/source/lines/json_columns.h"

namespace headrace {
namespace {

const std::vector<ir::Columns>& Declared() {
  static const auto* const declared = [] {
    auto* made = new std::vector<ir::Columns>;
    for (const std::vector<std::string_view>& fields :
         std::vector<std::vector<std::string_view>>{{"a int64"},
                                                    {"a string", "b float32 (None,)"},
                                                    {"b bool (2, None)", "a uint8"},
                                                    {"b string (None, None)"},
                                                    {"a.b int64", "a.a.b bool (None,)"}}) {
      ir::Columns columns;
      for (const std::string_view field : fields) columns.push_back(*ParseField(field));
      made->push_back(std::move(columns));
    }
    return made;
  }();
  return *declared;
}

void Parse(std::string_view line) {
  for (const ir::Columns& columns : Declared()) {
    std::vector<Tensor> values(columns.size());
    const absl::Status status = ParseRow(line, columns, JsonMissing(columns.size()), absl::MakeSpan(values));
    Require(status.ok() || KindOf(status) == ErrorKind::kData, "what is wrong is the line's fault");
    for (size_t i = 0; status.ok() && i < values.size(); ++i) {
      Require(ir::FitsType(columns[i].type, values[i].dtype(), values[i].shape()), "values are of their types");
    }
  }
}

// What stands for a missing value may come from such a graph, too.
void TakeAsMissing(std::string_view text) {
  for (const ir::Columns& columns : Declared()) {
    JsonMissing missing(columns.size());
    missing[0] = text;
    const absl::Status checked = CheckMissing(columns, missing);
    Require(checked.ok() || KindOf(checked) == ErrorKind::kGraph, "or is refused");
    if (!checked.ok() || columns.size() > 1) continue;
    std::vector<Tensor> values(1);
    Require(ParseRow("{}", columns, missing, absl::MakeSpan(values)).ok(), "what was checked stands for no value");
    Require(ir::FitsType(columns[0].type, values[0].dtype(), values[0].shape()), "and is of the column's type");
  }
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  headrace::Parse(text);
  headrace::TakeAsMissing(text);
  // A declaration may come from a graph of unknown origin.
  const auto field = headrace::ParseField(text);
  headrace::Require(field.ok() || headrace::KindOf(field.status()) == headrace::ErrorKind::kGraph, "or is refused");
  return 0;
}
