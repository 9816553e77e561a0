#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/formats/text/json_format.h"
#include "ir/suggestion.h"
#include "ops/source/class_names.h"
#include "ops/source/declared_fields.h"
#include "ops/source/file_patterns.h"
#include "ops/source/lines/json_columns.h"
#include "ops/source/lines/line_reading.h"

namespace headrace {
namespace {

// Of these columns, which are among the fields.
JsonMissing MissingOf(const ir::Attributes& attributes, const ir::Schema& columns) {
  JsonMissing missing(columns.columns.size());
  if (attributes.IsNone("missing")) return missing;
  for (auto& [name, json] : attributes.Pairs("missing")) {
    const int column = columns.IndexOf(name);
    if (column >= 0) missing[static_cast<size_t>(column)] = std::move(json);
  }
  return missing;
}

absl::Status CheckMissingOf(const ir::Attributes& attributes, const ir::Schema& fields) {
  if (attributes.IsNone("missing")) return absl::OkStatus();
  for (const auto& [name, json] : attributes.Pairs("missing")) {
    HEADRACE_RETURN_IF_ERROR(ir::FindColumn(fields, name).status());
  }
  return CheckMissing(fields.columns, MissingOf(attributes, fields));
}

absl::StatusOr<ir::Schema> InferJsonLines(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(CheckLineReading(attributes));
  HEADRACE_ASSIGN_OR_RETURN(const ir::Schema fields, FieldsOf(attributes));
  HEADRACE_RETURN_IF_ERROR(CheckMissingOf(attributes, fields));
  HEADRACE_ASSIGN_OR_RETURN(const ir::Schema chosen, ChosenFields(attributes, fields));
  HEADRACE_ASSIGN_OR_RETURN(const ClassTables classes, ClassTablesOf(attributes, fields, chosen.columns));
  return ir::Schema{WithClassNumbers(chosen.columns, classes)};
}

std::vector<ir::Attribute> AttributesJsonLines() {
  std::vector<ir::Attribute> attributes =
      DeclareLineReading({DeclareFields(),
                          {.name = "missing",
                           .type = ir::AttributeType::kPairs,
                           .doc = "What null stands for, or an object without the key, by column: {\"age\": -1, "
                                  "\"tags\": []}.",
                           .default_value = "None",
                           .nullable = true},
                          DeclareClassNames()});
  attributes.push_back(DeclareChosenFields());
  return attributes;
}

absl::StatusOr<LineRows> RowsOfJsonLines(const OpArguments& arguments, const MatchedFiles& /*files*/) {
  HEADRACE_ASSIGN_OR_RETURN(const ir::Schema fields, FieldsOf(arguments.attributes));
  HEADRACE_ASSIGN_OR_RETURN(const ir::Schema chosen, ChosenFields(arguments.attributes, fields));
  HEADRACE_ASSIGN_OR_RETURN(ClassTables classes, ClassTablesOf(arguments.attributes, fields, chosen.columns));
  LineRows rows;
  rows.format = std::make_unique<JsonFormat>();
  rows.columns = [columns = chosen.columns, missing = MissingOf(arguments.attributes, chosen),
                  classes = std::move(classes)] { return MakeJsonColumns(columns, missing, classes); };
  rows.json = true;
  return rows;
}

const OpRegistration json_lines_registration(
    {
        .name = "JsonLines",
        .role = ir::Role::kSource,
        .summary = "Gives the objects of files of JSON, one row each.",
        .doc =
            "Each line is an object, such as {\"text\": \"a mill\", \"label\": 3}; or the whole file is one array of "
            "objects, which its first byte that is no space shows: [. A column has the values of its key, and other "
            "keys are left out; \"objects.box\" is the key box of the object objects, unless a key has that name "
            "itself. Files, order, splits, index and keys are those of Text; an array is read from its start on, as "
            "one split, an element at a time.\n"
            "Errors of a row, which name the file and the byte: a line or an element that is no object, without a "
            "column's key, or with a value of another type. Whole numbers fit every dtype that holds them exactly, "
            "and others are rounded to a float dtype whose range has them; null and an absent key are no value, "
            "unless `missing` says what they stand for, and a blank line is no object. An array that is cut off, or "
            "without a comma where one has to be, is an error, and so is what follows its end.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = AttributesJsonLines(),
        .traits = {.random = true, .file_io = true},
        .python = LineSignature(
            {{"columns", "columns: FieldTypes | None = None",
              "A dict from name to dtype, or to (dtype, shape) for lists: {\"text\": str, \"box\": (\"float32\", "
              "(4,)), \"words\": (str, (None,))}; a bool, an integer, float32, float64 or str. None: they are looked "
              "for, at once, in the first rows; every one of these has all columns but those of `missing`."}},
            {{"look", "look: int = 1000", "How many rows are looked at for columns and types that are not given."},
             {"missing", "missing: Mapping[str, Any] | None = None"}},
            {ClassesParameter()}),
        .example = "hr.JsonLines(\"corpus/*.jsonl\", {\"text\": str, \"label\": \"int64\"})",
        .sample = {.attributes = {{"fields", "['value int64']"}}},
        .infer = InferJsonLines,
    },
    LineFactories(RowsOfJsonLines));

}  // namespace
}  // namespace headrace
