#include "ops/source/column_choice.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "ir/suggestion.h"

namespace headrace {

ir::Attribute ColumnChoice::Declare() const {
  const std::vector<std::string> names = all_.Names();
  const std::vector<std::string> given(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(given_));
  return {.name = "columns",
          .type = ir::AttributeType::kStrings,
          .doc = Cat("Columns to give, of ", absl::StrJoin(names, ", "), "; None: ", absl::StrJoin(given, ", "), "."),
          .default_value = "None",
          .nullable = true,
          .length = ir::ListLength{.least = 0},
          .chooses_columns = true};
}

absl::StatusOr<ir::Schema> ColumnChoice::Infer(const ir::Attributes& attributes) const {
  ir::Schema schema;
  if (attributes.IsNone("columns")) {
    for (size_t i = 0; i < given_; ++i) schema.columns.push_back(all_.columns[i]);
    return schema;
  }
  for (const std::string& name : attributes.Strings("columns")) {
    HEADRACE_ASSIGN_OR_RETURN(const ir::Column* column, ir::FindColumn(all_, name));
    if (schema.Find(name) != nullptr) return GraphError("columns names \"", name, "\" twice");
    schema.columns.push_back(*column);
  }
  if (schema.columns.empty())
    return GraphError("columns is empty; name at least one of ", absl::StrJoin(all_.Names(), ", "));
  return schema;
}

std::vector<int> ColumnChoice::Fields(const ir::Schema& output) const {
  std::vector<int> fields;
  for (const ir::Column& column : output.columns) fields.push_back(all_.IndexOf(column.name));
  return fields;
}

}  // namespace headrace
