#include <memory>
#include <string>
#include <utility>

#include "engine/operator/operator.h"
#include "ir/passes/column_ops.h"

namespace headrace {
namespace {

// Names are only in the schema, so rows pass unchanged.
class RenameOperator : public RowOperator {
 public:
  void Apply(Block& /*block*/) const override {}
};

const FactoriesRegistration rename_factories(
    ir::kRenameOp, {.row = [](const OpArguments&) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
                      return std::make_unique<RenameOperator>();
                    },
                    .indexed = [](const OpArguments& /*arguments*/, IndexedSources inputs)
                        -> absl::StatusOr<std::unique_ptr<IndexedSource>> { return std::move(inputs[0]); }});

}  // namespace
}  // namespace headrace
