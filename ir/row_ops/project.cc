#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/ragged_columns.h"
#include "ir/suggestion.h"

namespace headrace::ir {
namespace {

absl::StatusOr<Schema> InferProject(const Attributes& attributes, absl::Span<const Schema> inputs) {
  const std::vector<std::string> names = attributes.Strings("columns");
  std::set<std::string> seen;
  Schema schema;
  for (const std::string& name : names) {
    HEADRACE_ASSIGN_OR_RETURN(const Column* column, FindColumn(inputs[0], name));
    if (!seen.insert(name).second) return GraphError("columns names \"", name, "\" twice");
    if (schema.Find(name) == nullptr) schema.columns.push_back(*column);
    // The splits of a list, which users do not see, come with it.
    const int splits = ListSplitsOf(inputs[0], name);
    if (splits >= 0) schema.columns.push_back(inputs[0].columns[static_cast<size_t>(splits)]);
  }
  return schema;
}

std::vector<ColumnSet> ReadsProject(const Attributes& attributes, absl::Span<const Schema> inputs,
                                    const ColumnSet& /*wanted*/) {
  ColumnSet reads;
  for (const std::string& name : attributes.Strings("columns")) {
    reads.insert(name);
    if (ListSplitsOf(inputs[0], name) >= 0) reads.insert(ListSplitsName(name));
  }
  return {reads};
}

const DeclarationRegistration project_declaration({
    .name = "project",
    .role = Role::kRow,
    .summary = "Keeps the columns named, in the order given.",
    .doc = "Columns that nothing reads are not made where a source or kernel can leave them out.",
    .attributes = {{.name = "columns",
                    .type = AttributeType::kStrings,
                    .doc = "The columns to keep.",
                    .length = ListLength{},
                    .chooses_columns = true}},
    .traits = {.one_to_one = true, .light = true},
    .python_module = "dataset",
    .example = "ds.project([\"image\"])",
    .infer = InferProject,
    .reads = ReadsProject,
    .is_identity =
        [](const Attributes& attributes, absl::Span<const Schema> inputs, absl::Span<const std::optional<uint64_t>>) {
          return attributes.Strings("columns") == inputs[0].Names();
        },
});

}  // namespace
}  // namespace headrace::ir
