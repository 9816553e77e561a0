// `GivenColumns` gives the columns that a function of rows or batches returns, as far as its operator's attributes
// `output` and `types` say; `WithGivenAttributes` declares these attributes.
// Threads: pure functions.
#ifndef HEADRACE_OPS_ROWS_GIVEN_COLUMNS_H_
#define HEADRACE_OPS_ROWS_GIVEN_COLUMNS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/error.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"

namespace headrace {

// Without `output` they have the names of the input's.
inline absl::StatusOr<ir::Columns> GivenColumns(const ir::Attributes& attributes, const ir::Schema& input) {
  const std::vector<std::string> names = attributes.IsNone("output") ? input.Names() : attributes.Strings("output");
  ir::Columns given;
  for (const std::string& name : names) {
    if (given.IndexOf(name) >= 0) return GraphError("output names \"", name, "\" twice");
    given.push_back({name, ir::ColumnType::Unknown()});
  }
  if (attributes.IsNone("types")) return given;
  for (const ir::Column& declared : attributes.Columns("types").columns) {
    const int at = given.IndexOf(declared.name);
    if (at < 0) {
      std::string list;
      for (const std::string& name : names) Append(list, list.empty() ? "" : ", ", name);
      return GraphError("types names \"", declared.name, "\", which the function does not give (", list, ")");
    }
    given.type(static_cast<size_t>(at)) = declared.type;
  }
  return given;
}

// Adds what an operator that calls such a function declares besides: `output`, `types` and `random`. `of`: "row" or
// "batch", for what it is called.
inline std::vector<ir::Attribute> WithGivenAttributes(std::string_view of, std::vector<ir::Attribute> attributes) {
  attributes.push_back({.name = "output",
                        .type = ir::AttributeType::kStrings,
                        .doc = "The columns that the function gives; None: those that it gets.",
                        .default_value = "None",
                        .nullable = true,
                        .length = ir::ListLength{.least = 0}});
  attributes.push_back({.name = "types",
                        .type = ir::AttributeType::kColumns,
                        .doc = Cat("Types of the columns of a ", of, " that it gives, where known."),
                        .default_value = "None",
                        .nullable = true});
  attributes.push_back({.name = "random",
                        .type = ir::AttributeType::kBool,
                        .doc = Cat("Pass the function a NumPy generator of the ", of, "'s own as `rng`."),
                        .default_value = "False"});
  return attributes;
}

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_GIVEN_COLUMNS_H_
