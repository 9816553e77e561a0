#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/operator/operator.h"
#include "ir/passes/column_ops.h"

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

const FactoriesRegistration project_factories(
    ir::kProjectOp, {.row = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
      std::vector<int> sources;
      for (const ir::Column& column : arguments.output.columns) {
        sources.push_back(arguments.inputs[0].IndexOf(column.name));
      }
      return std::make_unique<ProjectOperator>(std::move(sources));
    }});

}  // namespace
}  // namespace headrace
