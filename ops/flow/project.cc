#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ir/list_columns.h"
#include "ir/suggestion.h"
#include "ops/rows/ragged_columns.h"

namespace headrace {
namespace {

class ProjectOperator : public RowOperator {
 public:
  explicit ProjectOperator(std::vector<int> sources) : sources_(std::move(sources)) {}

  void Apply(Block& block) const override {
    if (block.columns.empty()) return;
    absl::InlinedVector<BlockColumn, 2> chosen;
    for (int source : sources_) chosen.push_back(std::move(block.columns[source]));
    block.columns = std::move(chosen);
  }

 private:
  const std::vector<int> sources_;
};

absl::StatusOr<ir::Schema> InferProject(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  const std::vector<std::string> names = attributes.Strings("columns");
  std::set<std::string> seen;
  ir::Schema schema;
  for (const std::string& name : names) {
    HEADRACE_ASSIGN_OR_RETURN(const ir::Column* column, ir::FindColumn(inputs[0], name));
    if (!seen.insert(name).second) return GraphError("columns names \"", name, "\" twice");
    if (schema.Find(name) == nullptr) schema.columns.push_back(*column);
    // The splits of a list, which users do not see, come with it.
    const int splits = ir::ListSplitsOf(inputs[0], name);
    if (splits >= 0) schema.columns.push_back(inputs[0].columns[static_cast<size_t>(splits)]);
  }
  return schema;
}

std::vector<ir::ColumnSet> ReadsProject(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                        const ir::ColumnSet& /*wanted*/) {
  ir::ColumnSet reads;
  for (const std::string& name : attributes.Strings("columns")) {
    reads.insert(name);
    if (ir::ListSplitsOf(inputs[0], name) >= 0) reads.insert(ir::ListSplitsName(name));
  }
  return {reads};
}

const OpRegistration project_registration(
    {
        .name = "project",
        .role = ir::Role::kRow,
        .summary = "Keeps the columns named, in the order given.",
        .doc = "Columns that nothing reads are not made where a source or kernel can leave them out.",
        .attributes = {{.name = "columns",
                        .type = ir::AttributeType::kStrings,
                        .doc = "The columns to keep.",
                        .length = ir::ListLength{},
                        .chooses_columns = true}},
        .traits = {.one_to_one = true, .light = true},
        .python_module = "dataset",
        .example = "ds.project([\"image\"])",
        .infer = InferProject,
        .reads = ReadsProject,
        .is_identity =
            [](const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
               absl::Span<const std::optional<uint64_t>>) {
              return attributes.Strings("columns") == inputs[0].Names();
            },
    },
    {.row = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
      std::vector<int> sources;
      for (const ir::Column& column : arguments.output.columns) {
        sources.push_back(arguments.inputs[0].IndexOf(column.name));
      }
      return std::make_unique<ProjectOperator>(std::move(sources));
    }});

}  // namespace
}  // namespace headrace
