#include "ir/row_ops/input.h"

#include <string>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/declaration.h"

namespace headrace::ir {
namespace {

absl::StatusOr<Schema> InferInput(const Attributes& attributes, absl::Span<const Schema> /*inputs*/) {
  Schema schema = attributes.Columns(kInputColumns);
  if (schema.columns.empty()) return GraphError("columns is empty; name what a request holds");
  for (const Column& column : schema.columns) {
    const bool whole = column.type.fields.empty() && !column.type.ragged && !column.type.optional;
    if (whole) continue;
    return GraphError("column \"", column.name, "\" is ", TypeName(column.type),
                      "; a request gives one array, byte string or number for each column");
  }
  return schema;
}

const DeclarationRegistration input_declaration({
    .name = std::string(kInputOp),
    .role = Role::kSource,
    .summary = "Gives the values of one request to an inference graph.",
    .doc = "An inference graph begins with it: its columns are the arguments of each call. It reads no files and has "
           "no rows of its own, so a pipeline over it does not run.",
    .min_inputs = 0,
    .max_inputs = 0,
    .attributes = {{.name = std::string(kInputColumns),
                    .type = AttributeType::kColumns,
                    .doc = "The columns of a request, with their types."}},
    .python_module = "internal",
    .example = "hr.InferenceGraph([V.Decode()], inputs={\"image\": \"bytes\"})",
    .infer = InferInput,
});

}  // namespace
}  // namespace headrace::ir
