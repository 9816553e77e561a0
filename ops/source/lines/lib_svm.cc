#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/source/file_patterns.h"
#include "ops/source/lines/lib_svm_columns.h"
#include "ops/source/lines/line_reading.h"

namespace headrace {
namespace {

std::vector<ir::Attribute> AttributesLibSvm() {
  return DeclareLineReading(
      {{.name = "features",
        .doc = "How many features there are: an index beyond them is an error of its row. None: any index is one.",
        .default_value = "None",
        .nullable = true,
        .minimum = 1},
       {.name = "zero_based",
        .type = ir::AttributeType::kBool,
        .doc = "Whether the files count features from 0, else from 1. The column `index` counts from 0 either way.",
        .default_value = "True"}});
}

absl::StatusOr<ir::Schema> InferLibSvm(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  HEADRACE_RETURN_IF_ERROR(CheckLineReading(attributes));
  return ir::Schema{{{"label", ir::ColumnType::Of(DType::kFloat32, {})},
                     {"index", ir::ColumnType::Of(DType::kInt64, {ir::kUnknownDim})},
                     {"value", ir::ColumnType::Of(DType::kFloat32, {ir::kUnknownDim})}}};
}

MakeColumns ColumnsOfLibSvm(const OpArguments& arguments) {
  const ir::Attributes& attributes = arguments.attributes;
  LibSvmLines lines;
  if (!attributes.IsNone("features")) lines.features = attributes.Int("features");
  lines.zero_based = attributes.Bool("zero_based");
  return [lines] { return MakeLibSvmColumns(lines); };
}

const OpRegistration lib_svm_registration(
    {
        .name = "LibSvm",
        .role = ir::Role::kSource,
        .summary = "Gives the lines of LibSVM files, one sparse row each.",
        .doc = "Columns: `label` (float32), and the features that the line names: `index` (int64 vector) and `value` "
               "(float32 vector of the same length). Others are 0. A line is \"label index:value index:value …\" with "
               "blanks between fields and ascending indices; an index alone has the value 1. Left out are text after "
               "\"#\", lines without a field, the weight in \"label:weight\", and a second field \"qid:number\". "
               "Files, order, splits, index and keys are those of Text, and numbers are those of Csv.\n"
               "Errors of a row, which name the file, the byte and the field: a field of another form, an index that "
               "does not ascend, or one beyond the features.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = AttributesLibSvm(),
        .traits = {.random = true, .file_io = true},
        .python = LineSignature({{"features", "features: int | None = None"},
                                 {"zero_based", "zero_based: bool = True"}}),
        .example = "hr.LibSvm(\"train/*.libsvm\", features=784).batch(32, pad=True, pad_value=-1)",
        .infer = InferLibSvm,
    },
    LineFactories(ColumnsOfLibSvm));

}  // namespace
}  // namespace headrace
