#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ir/suggestion.h"
#include "ops/rows/ragged_columns.h"

namespace headrace {
namespace {

// Names are only in the schema, so rows pass unchanged.
class RenameOperator : public RowOperator {
 public:
  void Apply(Block& /*block*/) const override {}
};

using Names = std::map<std::string, std::string>;

Names MappingOf(const ir::Attributes& attributes) {
  Names names;
  for (auto& [from, to] : attributes.Pairs("mapping")) names[from] = to;
  return names;
}

const std::string& NewName(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

absl::StatusOr<ir::Schema> InferRename(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  const Names names = MappingOf(attributes);
  for (const auto& [from, to] : names) {
    HEADRACE_RETURN_IF_ERROR(ir::FindColumn(inputs[0], from).status());
    HEADRACE_RETURN_IF_ERROR(RefuseLists(inputs[0], {from}, "renamed"));
    if (to.empty()) return GraphError("the new name of \"", from, "\" is empty");
  }
  ir::Schema schema;
  for (const ir::Column& column : inputs[0].columns) {
    const std::string& name = NewName(names, column.name);
    if (schema.Find(name) != nullptr) {
      return GraphError("two columns would be named \"", name, "\"; give one of them another name, or drop it first");
    }
    schema.columns.push_back({name, column.type});
  }
  return schema;
}

std::vector<ir::ColumnSet> ReadsRename(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                       const ir::ColumnSet& wanted) {
  const Names names = MappingOf(attributes);
  // Keeps the columns that it names itself: a mapping of a missing column would be a mistake.
  ir::ColumnSet reads;
  for (const ir::Column& column : inputs[0].columns) {
    if (names.count(column.name) > 0 || wanted.count(column.name) > 0) reads.insert(column.name);
  }
  return {reads};
}

bool RenamesNothing(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/,
                    absl::Span<const std::optional<uint64_t>> /*most_rows*/) {
  const Names names = MappingOf(attributes);
  return std::all_of(names.begin(), names.end(), [](const auto& pair) { return pair.first == pair.second; });
}

const OpRegistration rename_registration(
    {
        .name = "rename",
        .role = ir::Role::kRow,
        .summary = "Gives columns other names.",
        .doc =
            "Columns not named keep theirs; two may swap. The order of columns stays. Over a source with random access "
            "it has random access, too.",
        .attributes = {{.name = "mapping", .type = ir::AttributeType::kPairs, .doc = "From each old name to the new."}},
        .traits = {.one_to_one = true, .indexed = true, .light = true},
        .python_module = "dataset",
        .example = "ds.rename({\"image\": \"picture\"})",
        .infer = InferRename,
        .reads = ReadsRename,
        .is_identity = RenamesNothing,
    },
    {.row = [](const OpArguments&) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
       return std::make_unique<RenameOperator>();
     },
     .indexed = [](const OpArguments& /*arguments*/, IndexedSources inputs)
         -> absl::StatusOr<std::unique_ptr<IndexedSource>> { return std::move(inputs[0]); }});

}  // namespace
}  // namespace headrace
