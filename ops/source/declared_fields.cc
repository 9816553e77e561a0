#include "ops/source/declared_fields.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/seeded_hash.h"
#include "ir/suggestion.h"

namespace headrace {
namespace {

constexpr size_t kMostAxes = 32;

absl::StatusOr<Shape> ParseShape(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return GraphError("has no shape in ()");
  text = text.substr(1, text.size() - 2);
  Shape shape;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    part.remove_prefix(std::min(part.size(), part.find_first_not_of(' ')));
    if (shape.size() == kMostAxes) return GraphError("has more than ", kMostAxes, " axes");
    int64_t size = ir::kUnknownDim;
    if (part != "None") {
      const auto [end, wrong] = std::from_chars(part.data(), part.data() + part.size(), size);
      if (wrong != std::errc() || end != part.data() + part.size() || size < 0) {
        return GraphError("has the dimension ", part);
      }
    }
    shape.push_back(size);
  }
  return shape;
}

}  // namespace

absl::StatusOr<ir::Column> ParseField(std::string_view text) {
  HEADRACE_ASSIGN_OR_RETURN(std::optional<ir::Column> column, ParseTypedName(text));
  const DType dtype = column.has_value() ? column->type.dtype : DType::kUnknown;
  if (dtype == DType::kString || WithFieldType(dtype, [](auto) { return true; })) return *std::move(column);
  return GraphError("the field \"", text,
                    "\" has no type that a field can have: a bool, an integer, float32, float64 or string");
}

absl::StatusOr<std::optional<ir::Column>> ParseTypedName(std::string_view text) {
  const size_t shape_at = text.rfind(" (");
  const std::string_view typed = text.substr(0, shape_at);
  const size_t dtype_at = typed.rfind(' ');
  const std::optional<DType> dtype =
      dtype_at == std::string_view::npos ? std::nullopt : DTypeFromName(typed.substr(dtype_at + 1));
  if (!dtype.has_value()) return std::optional<ir::Column>();
  Shape shape;
  if (shape_at != std::string_view::npos) {
    absl::StatusOr<Shape> given = ParseShape(text.substr(shape_at + 1));
    if (!given.ok()) return GraphError("the field \"", text, "\" ", given.status().message());
    shape = *std::move(given);
  }
  return std::optional(
      ir::Column{std::string(typed.substr(0, dtype_at)), ir::ColumnType::Of(*dtype, std::move(shape))});
}

ir::Attribute DeclareFields() {
  return {.name = "fields",
          .type = ir::AttributeType::kStrings,
          .doc = "The columns that lines have, each as its name and its type.",
          .length = ir::ListLength{.least = 0},
          .hidden = true};
}

ir::Attribute DeclareChosenFields() {
  return {.name = "columns",
          .type = ir::AttributeType::kStrings,
          .doc = "Those of the fields that are read; None: all.",
          .default_value = "None",
          .nullable = true,
          .length = ir::ListLength{.least = 0},
          .chooses_columns = true,
          .hidden = true};
}

absl::StatusOr<ir::Columns> TypedFieldsOf(const ir::Attributes& attributes) {
  ir::Columns columns;
  std::unordered_set<std::string, SeededHash> seen;
  for (const std::string& text : attributes.Strings("fields")) {
    HEADRACE_ASSIGN_OR_RETURN(std::optional<ir::Column> column, ParseTypedName(text));
    if (!column.has_value()) return GraphError("the field \"", text, "\" has no type");
    if (!seen.insert(column->name).second) return GraphError("the field \"", column->name, "\" comes twice");
    columns.push_back(*std::move(column));
  }
  return columns;
}

absl::StatusOr<ir::Schema> FieldsOf(const ir::Attributes& attributes) {
  ir::Schema fields;
  std::unordered_set<std::string, SeededHash> seen;
  for (const std::string& text : attributes.Strings("fields")) {
    HEADRACE_ASSIGN_OR_RETURN(ir::Column column, ParseField(text));
    if (!seen.insert(column.name).second) return GraphError("the field \"", column.name, "\" comes twice");
    fields.columns.push_back(std::move(column));
  }
  if (fields.columns.empty()) return GraphError("has no columns; name at least one, with its type");
  return fields;
}

absl::StatusOr<ir::Schema> ChosenFields(const ir::Attributes& attributes, const ir::Schema& fields) {
  if (attributes.IsNone("columns")) return fields;
  ir::Schema schema;
  std::unordered_map<std::string_view, const ir::Column*, SeededHash> by_name;
  for (const ir::Column& column : fields.columns) by_name.emplace(column.name, &column);
  std::unordered_set<std::string, SeededHash> seen;
  for (const std::string& name : attributes.Strings("columns")) {
    const auto found = by_name.find(name);
    // For its message.
    if (found == by_name.end()) return ir::FindColumn(fields, name).status();
    if (!seen.insert(name).second) return GraphError("columns names \"", name, "\" twice");
    schema.columns.push_back(*found->second);
  }
  if (schema.columns.empty()) return GraphError("columns is empty");
  return schema;
}

}  // namespace headrace
