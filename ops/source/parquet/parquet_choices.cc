#include "ops/source/parquet/parquet_choices.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "ops/source/shown_text.h"
#include "ops/source/text_bytes.h"

namespace headrace {
namespace {

using Json = nlohmann::json;

absl::Status NotParquetChoice(std::string_view attribute, const std::string& column, const std::string& text) {
  return GraphError(attribute, " of the column \"", column, "\" is ", ShownText(text));
}

absl::StatusOr<std::vector<std::string>> ClassesOf(const std::string& column, const std::string& text) {
  const Json names = Json::parse(text.begin(), text.end(), nullptr, false);
  std::vector<std::string> classes;
  if (!names.is_array()) return NotParquetChoice("class_names", column, text);
  for (const Json& name : names) {
    if (!name.is_string()) return NotParquetChoice("class_names", column, text);
    classes.push_back(name.get<std::string>());
  }
  return classes;
}

// Characters U+0000 to U+00FF, each of which stands for a byte.
absl::StatusOr<std::string> FillOf(const std::string& column, const std::string& text) {
  const Json fill = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!fill.is_string()) return NotParquetChoice("fills", column, text);
  std::optional<std::string> bytes = BytesOfText(fill.get<std::string>());
  if (!bytes.has_value()) return NotParquetChoice("fills", column, text);
  return *std::move(bytes);
}

absl::StatusOr<Shape> ShapeOfChoice(const std::string& column, const std::string& text) {
  const Json axes = Json::parse(text.begin(), text.end(), nullptr, false);
  Shape shape;
  if (!axes.is_array()) return NotParquetChoice("shapes", column, text);
  for (const Json& axis : axes) {
    if (!axis.is_number_integer() || axis.get<int64_t>() < 0) return NotParquetChoice("shapes", column, text);
    shape.push_back(axis.get<int64_t>());
  }
  return shape;
}

// Reads the pairs of a column and a text that are there for columns to give.
template <typename Value, typename Parse>
absl::Status ReadChoices(const ir::Attributes& attributes, std::string_view name, const ir::Columns& columns,
                         Parse parse, std::map<std::string, Value, std::less<>>& values) {
  if (attributes.IsNone(name)) return absl::OkStatus();
  for (const auto& [column, text] : attributes.Pairs(name)) {
    if (columns.IndexOf(column) < 0) continue;
    HEADRACE_ASSIGN_OR_RETURN(Value value, parse(column, text));
    values[column] = std::move(value);
  }
  return absl::OkStatus();
}

ir::Attribute DeclareChoice(std::string name, std::string doc) {
  return {.name = std::move(name),
          .type = ir::AttributeType::kPairs,
          .doc = std::move(doc),
          .default_value = "None",
          .nullable = true,
          .hidden = true};
}

std::vector<std::string> StringsOrNone(const ir::Attributes& attributes, std::string_view name) {
  return attributes.IsNone(name) ? std::vector<std::string>() : attributes.Strings(name);
}

absl::Status CheckFolderType(const ir::Column& column) {
  const bool fits =
      column.type == ir::ColumnType::Of(DType::kInt64, {}) || column.type == ir::ColumnType::Of(DType::kString, {});
  if (fits) return absl::OkStatus();
  return GraphError("the column \"", column.name, "\" is ", ir::TypeName(column.type),
                    "; the names of folders are int64 or string");
}

}  // namespace

std::vector<ir::Attribute> DeclareParquetFields() {
  return {{.name = "fields",
           .type = ir::AttributeType::kColumns,
           .doc = "The columns that the files have, with their types.",
           .hidden = true},
          {.name = "folders",
           .type = ir::AttributeType::kStrings,
           .doc = "Those of the columns that the names of folders give.",
           .default_value = "None",
           .nullable = true,
           .length = ir::ListLength{.least = 0},
           .hidden = true},
          DeclareChoice("class_names", "The names of the classes of each column that has some, as a list in JSON."),
          {.name = "named",
           .type = ir::AttributeType::kStrings,
           .doc = "Columns with classes whose files hold the names, in dictionaries or texts, not the numbers.",
           .default_value = "None",
           .nullable = true,
           .length = ir::ListLength{.least = 0},
           .hidden = true},
          DeclareChoice("fills", "What stands for a missing value of a column: its bytes, as JSON."),
          DeclareChoice("shapes", "The axes of arrays in lists of one length, as JSON."),
          DeclareChoice("units", "The units of times.")};
}

absl::StatusOr<ParquetFields> ParquetFieldsOf(const ir::Attributes& attributes, const ir::Columns& columns) {
  ParquetFields fields;
  fields.columns = columns;
  fields.folders = StringsOrNone(attributes, "folders");
  fields.choices.columns.emplace();
  for (const ir::Column& column : columns) {
    if (fields.IsOfFolders(column.name)) {
      HEADRACE_RETURN_IF_ERROR(CheckFolderType(column));
    } else {
      fields.choices.columns->push_back(column.name);
    }
  }
  ArrowChoices& choices = fields.choices;
  HEADRACE_RETURN_IF_ERROR(ReadChoices(attributes, "class_names", columns, ClassesOf, choices.classes));
  const std::vector<std::string> named = StringsOrNone(attributes, "named");
  std::erase_if(choices.classes,
                [&](const auto& each) { return std::find(named.begin(), named.end(), each.first) == named.end(); });
  HEADRACE_RETURN_IF_ERROR(ReadChoices(attributes, "fills", columns, FillOf, choices.fills));
  HEADRACE_RETURN_IF_ERROR(ReadChoices(attributes, "shapes", columns, ShapeOfChoice, choices.shapes));
  const auto unit_of = [](const std::string& /*column*/, const std::string& unit) {
    return absl::StatusOr<std::string>(unit);
  };
  HEADRACE_RETURN_IF_ERROR(ReadChoices(attributes, "units", columns, unit_of, fields.units));
  return fields;
}

}  // namespace headrace
