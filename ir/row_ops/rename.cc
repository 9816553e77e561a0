#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/ragged_columns.h"
#include "ir/suggestion.h"

namespace headrace::ir {
namespace {

using Names = std::map<std::string, std::string>;

Names MappingOf(const Attributes& attributes) {
  Names names;
  for (auto& [from, to] : attributes.Pairs("mapping")) names[from] = to;
  return names;
}

const std::string& NewName(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

absl::StatusOr<Schema> InferRename(const Attributes& attributes, absl::Span<const Schema> inputs) {
  const Names names = MappingOf(attributes);
  for (const auto& [from, to] : names) {
    HEADRACE_RETURN_IF_ERROR(FindColumn(inputs[0], from).status());
    HEADRACE_RETURN_IF_ERROR(RefuseLists(inputs[0], {from}, "renamed"));
    if (to.empty()) return GraphError("the new name of \"", from, "\" is empty");
  }
  Schema schema;
  for (const Column& column : inputs[0].columns) {
    const std::string& name = NewName(names, column.name);
    if (schema.Find(name) != nullptr) {
      return GraphError("two columns would be named \"", name, "\"; give one of them another name, or drop it first");
    }
    schema.columns.push_back({name, column.type});
  }
  return schema;
}

std::vector<ColumnSet> ReadsRename(const Attributes& attributes, absl::Span<const Schema> inputs,
                                   const ColumnSet& wanted) {
  const Names names = MappingOf(attributes);
  // Keeps the columns that it names itself: a mapping of a missing column would be a mistake.
  ColumnSet reads;
  for (const Column& column : inputs[0].columns) {
    if (names.count(column.name) > 0 || wanted.count(column.name) > 0) reads.insert(column.name);
  }
  return {reads};
}

bool RenamesNothing(const Attributes& attributes, absl::Span<const Schema> /*inputs*/,
                    absl::Span<const std::optional<uint64_t>> /*most_rows*/) {
  const Names names = MappingOf(attributes);
  return std::all_of(names.begin(), names.end(), [](const auto& pair) { return pair.first == pair.second; });
}

const DeclarationRegistration rename_declaration({
    .name = "rename",
    .role = Role::kRow,
    .summary = "Gives columns other names.",
    .doc = "Columns not named keep theirs; two may swap. The order of columns stays. Over a source with random access "
           "it has random access, too.",
    .attributes = {{.name = "mapping", .type = AttributeType::kPairs, .doc = "From each old name to the new."}},
    .traits = {.one_to_one = true, .indexed = true, .light = true},
    .python_module = "dataset",
    .example = "ds.rename({\"image\": \"picture\"})",
    .infer = InferRename,
    .reads = ReadsRename,
    .is_identity = RenamesNothing,
});

}  // namespace
}  // namespace headrace::ir
