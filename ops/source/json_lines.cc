#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/text/line_format.h"
#include "ops/source/declared_fields.h"
#include "ops/source/file_patterns.h"
#include "ops/source/json_columns.h"
#include "ops/source/split_source.h"

namespace headrace {
namespace {

absl::StatusOr<ir::Schema> Infer(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(CheckPatterns(attributes));
  HEADRACE_ASSIGN_OR_RETURN(ir::Schema fields, FieldsOf(attributes));
  return ChosenFields(attributes, fields);
}

std::vector<ir::Attribute> Attributes() {
  std::vector<ir::Attribute> attributes = {DeclarePatterns(), DeclareFields()};
  for (ir::Attribute& attribute : SplitReading::Declare()) attributes.push_back(std::move(attribute));
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
        .python =
            {.parameters =
                 "patterns: str | PathLike[str] | Sequence[str | PathLike[str]], columns: FieldTypes | None = "
                 "None, shuffle: bool = False, window: int = 16384, interleave: int | None = None, "
                 "sharding: str | None = None, split_bytes: int | None = None, look: int = 1000, *, "
                 "seed: int | None = None, name: str | None = None",
             .docs = {{"patterns"},
                      {"columns",
                       "A dict from name to dtype, or to (dtype, shape) for lists: {\"text\": str, \"box\": "
                       "(\"float32\", (4,)), \"words\": (str, (None,))}; a bool, an integer, float32, float64 or str. "
                       "None: they are looked for, at once, in the first rows; every one of these has all columns."},
                      {"shuffle"},
                      {"window", "With `shuffle`: rows are then mixed by shuffle(window); 0: they are not."},
                      {"interleave"},
                      {"sharding"},
                      {"split_bytes"},
                      {"look", "How many rows are looked at for columns and types that are not given."},
                      {"seed"},
                      {"name"}},
             .body = "self._begin(\n    \"JsonLines\",\n    {\n        \"patterns\": patterns,\n        \"fields\": "
                     "hosted.json_fields(patterns, columns, look),\n        \"shuffle\": shuffle,\n        "
                     "\"interleave\": interleave,\n        \"sharding\": sharding,\n        \"split_bytes\": "
                     "split_bytes,\n        \"seed\": seed,\n        \"name\": name,\n    },\n)\nhosted.mix(self, "
                     "shuffle, window, seed, name)"},
        .example = "hr.JsonLines(\"corpus/*.jsonl\", {\"text\": str, \"label\": \"int64\"})",
        .sample = {.attributes = {{"fields", "['value int64']"}}},
        .infer = Infer,
    },
    {.stream_source = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamSource>> {
       HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files,
                                 MatchFiles(*arguments.run->files, "JsonLines", arguments.attributes));
       return std::make_unique<SplitSource>(std::make_unique<LineFormat>(), std::move(files),
                                            MakeJsonColumns(arguments.output.columns), arguments);
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           SplitReading::Of(arguments.attributes).Describe(properties);
         }});

}  // namespace
}  // namespace headrace
