#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/source/declared_fields.h"
#include "ops/source/file_patterns.h"
#include "ops/source/json_columns.h"
#include "ops/source/line_reading.h"

namespace headrace {
namespace {

absl::StatusOr<ir::Schema> Infer(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(CheckPatterns(attributes));
  HEADRACE_ASSIGN_OR_RETURN(ir::Schema fields, FieldsOf(attributes));
  return ChosenFields(attributes, fields);
}

std::vector<ir::Attribute> Attributes() {
  std::vector<ir::Attribute> attributes = DeclareLineReading({DeclareFields()});
  attributes.push_back(DeclareChosenFields());
  return attributes;
}

const OpRegistration registration(
    {
        .name = "JsonLines",
        .role = ir::Role::kSource,
        .summary = "Gives the lines of files of JSON objects, one row each.",
        .doc = "Each line is an object, such as {\"text\": \"a mill\", \"label\": 3}; a column has the values of its "
               "key, and other keys are left out. Files, order, splits and keys are those of Text.\n"
               "Errors of a row, which name the file and the byte: a line that is no object, without a column's key, "
               "or with a value of another type. Whole numbers fit every dtype that holds them exactly, and others are "
               "rounded to a float dtype whose range has them; null is no value, and a blank line is no object.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = Attributes(),
        .traits = {.random = true, .file_io = true},
        .python = LineSignature(
            "JsonLines",
            {{"columns", "columns: FieldTypes | None = None",
              "A dict from name to dtype, or to (dtype, shape) for lists: {\"text\": str, \"box\": (\"float32\", "
              "(4,)), \"words\": (str, (None,))}; a bool, an integer, float32, float64 or str. None: they are looked "
              "for, at once, in the first rows; every one of these has all columns.",
              "\"fields\": hosted.json_fields(patterns, columns, look)"}},
            {{"look", "look: int = 1000", "How many rows are looked at for columns and types that are not given.",
              ""}}),
        .example = "hr.JsonLines(\"corpus/*.jsonl\", {\"text\": str, \"label\": \"int64\"})",
        .sample = {.attributes = {{"fields", "['value int64']"}}},
        .infer = Infer,
    },
    LineFactories([](const OpArguments& arguments) { return MakeJsonColumns(arguments.output.columns); }));

}  // namespace
}  // namespace headrace
