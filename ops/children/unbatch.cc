#include <memory>
#include <utility>
#include <vector>

#include "engine/operator/operator.h"
#include "ops/children/child_rows.h"

namespace headrace {
namespace {

// The rows of one batch travel as one part: views of the batch's own columns.
class UnbatchOperator : public RowOperator {
 public:
  explicit UnbatchOperator(const ir::Schema& schema) : children_("unbatch", schema) {}

  void Apply(Block& /*block*/) const override {}

  void Split(Message message, const Checkpoint& before, std::vector<Message>& parts) const override {
    for (int row = 0; row < message->rows(); ++row) {
      const absl::StatusOr<int64_t> count = children_.CountOf(*message, row);
      if (!count.ok()) {
        message->Fail(row, count.status());
        message->DropRows();
        message->columns.clear();
        parts.push_back(std::move(message));
        return;
      }
      Message part = children_.Take(*message, row, 0, *count);
      part->checkpoint = before;
      part->checkpoint.back() += static_cast<uint64_t>(row) + 1;
      parts.push_back(std::move(part));
    }
    const bool whole = message->end == End::kNone && message->rows() > 0;
    if (whole && message->continues) return;
    message->checkpoint.push_back(0);
    if (whole) {
      parts.back()->checkpoint = std::move(message->checkpoint);
      return;
    }
    message->DropRows();
    message->columns.clear();
    parts.push_back(std::move(message));
  }

 private:
  const ChildRows children_;
};

const OpRegistration unbatch_registration(
    {
        .name = "unbatch",
        .role = ir::Role::kRow,
        .summary = "Makes a row of every entry along the first axis of all columns.",
        .doc = "The first axes of a row's columns must be of equal length; they may differ from row to row, and one "
               "of length 0 gives no rows. Rows are views of the batch; none is copied. A row's key is that of the "
               "batch mixed with the row's number in it. Ragged columns, of `batch(ragged=\"splits\")` or \"list\", "
               "give the rows back that were joined, and their splits are gone.",
        .traits = {.one_to_many = true},
        .python_module = "dataset",
        .example = "ds.unbatch()",
        .infer = [](const ir::Attributes& /*attributes*/,
                    absl::Span<const ir::Schema> inputs) { return InferChildren("unbatch", inputs[0]); },
        // Reads all columns, because their lengths must agree even if they are unused.
    },
    {.row = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
       return std::make_unique<UnbatchOperator>(arguments.inputs[0]);
     },
     .properties =
         [](const OpArguments& /*arguments*/, OperatorProperties& properties) {
           // Rows of the batch already given out.
           properties.checkpoint_counters = 1;
           properties.splits_messages = true;
         },
     .cardinality =
         [](const OpArguments& arguments, absl::Span<const Cardinality> inputs) {
           return CountChildren(arguments.inputs[0], inputs[0]);
         }});

}  // namespace
}  // namespace headrace
