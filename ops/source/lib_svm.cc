#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "io/formats/text/line_format.h"
#include "ops/source/file_patterns.h"
#include "ops/source/lib_svm_columns.h"
#include "ops/source/split_source.h"

namespace headrace {
namespace {

std::vector<ir::Attribute> Attributes() {
  std::vector<ir::Attribute> attributes = {
      DeclarePatterns(),
      {.name = "features",
       .doc = "How many features there are: an index beyond them is an error of its row. None: any index is one.",
       .default_value = "None",
       .nullable = true,
       .minimum = 1},
      {.name = "zero_based",
       .type = ir::AttributeType::kBool,
       .doc = "Whether the files count features from 0, else from 1. The column `index` counts from 0 either way.",
       .default_value = "True"}};
  for (ir::Attribute& attribute : SplitReading::Declare()) attributes.push_back(std::move(attribute));
  return attributes;
}

absl::StatusOr<ir::Schema> Infer(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(CheckPatterns(attributes));
  return ir::Schema{{{"label", ir::ColumnType::Of(DType::kFloat32, {})},
                     {"index", ir::ColumnType::Of(DType::kInt64, {ir::kUnknownDim})},
                     {"value", ir::ColumnType::Of(DType::kFloat32, {ir::kUnknownDim})}}};
}

absl::StatusOr<std::unique_ptr<StreamSource>> MakeLibSvm(const OpArguments& arguments) {
  const ir::Attributes& attributes = arguments.attributes;
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, MatchFiles(*arguments.run->files, "LibSvm", attributes));
  LibSvmLines lines;
  if (!attributes.IsNone("features")) lines.features = attributes.Int("features");
  lines.zero_based = attributes.Bool("zero_based");
  return std::make_unique<SplitSource>(std::make_unique<LineFormat>(), std::move(files), MakeLibSvmColumns(lines),
                                       arguments);
}

const OpRegistration registration(
    {
        .name = "LibSvm",
        .role = ir::Role::kSource,
        .summary = "Gives the lines of LibSVM files, one sparse row each.",
        .doc = "Columns: `label` (float32), and the features that the line names: `index` (int64 vector) and `value` "
               "(float32 vector of the same length). Others are 0. A line is \"label index:value index:value …\" with "
               "blanks between fields and ascending indices; an index alone has the value 1. Left out are text behind "
               "\"#\", lines without a field, the weight in \"label:weight\", and a second field \"qid:number\". "
               "Files, order, splits and keys are those of Text, and numbers are those of Csv.\n"
               "Errors of a row, which name the file, the byte and the field: a field of another form, an index that "
               "does not ascend, or one beyond the features.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = Attributes(),
        .traits = {.random = true, .file_io = true},
        .python = {.parameters = "patterns: str | PathLike[str] | Sequence[str | PathLike[str]], features: int | None "
                                 "= None, zero_based: bool = True, shuffle: bool = False, window: int = 16384, "
                                 "interleave: int | None = None, sharding: str | None = None, split_bytes: int | None "
                                 "= None, *, seed: int | None = None, name: str | None = None",
                   .docs = {{"patterns"},
                            {"features"},
                            {"zero_based"},
                            {"shuffle"},
                            {"window", "With `shuffle`: rows are then mixed by shuffle(window); 0: they are not."},
                            {"interleave"},
                            {"sharding"},
                            {"split_bytes"},
                            {"seed"},
                            {"name"}},
                   .body = "self._begin(\n    \"LibSvm\",\n    {\n        \"patterns\": patterns,\n        "
                           "\"features\": features,\n        \"zero_based\": zero_based,\n        \"shuffle\": "
                           "shuffle,\n        \"interleave\": interleave,\n        \"sharding\": sharding,\n        "
                           "\"split_bytes\": split_bytes,\n        \"seed\": seed,\n        \"name\": name,\n    "
                           "},\n)\nhosted.mix(self, shuffle, window, seed, name)"},
        .example = "hr.LibSvm(\"train/*.libsvm\", features=784).batch(32, pad=True, pad_value=-1)",
        .infer = Infer,
    },
    {.stream_source = MakeLibSvm, .properties = [](const OpArguments& arguments, OperatorProperties& properties) {
       SplitReading::Of(arguments.attributes).Describe(properties);
     }});

}  // namespace
}  // namespace headrace
