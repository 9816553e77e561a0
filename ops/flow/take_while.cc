#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ops/flow/condition.h"
#include "ops/flow/end_with_error.h"

namespace headrace {
namespace {

class TakeWhileOperator : public StreamOperator {
 public:
  explicit TakeWhileOperator(std::unique_ptr<Condition> condition) : condition_(std::move(condition)) {}

  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override {
    return counters[0] <= 1 ? absl::OkStatus() : CounterError("ended ", counters[0], " times");
  }

  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& /*inputs*/) override {
    epoch_ = epoch;
    ended_ = counters[0] != 0;
  }

  void Receive(int input, Message message, Outbox& out) override {
    // Drops the rest of an epoch whose end-of-epoch marker was sent, including the marker from below.
    if (message->epoch < epoch_) return;
    if (message->epoch > epoch_) ended_ = false;
    epoch_ = message->epoch;
    Cut(*message);
    const bool ends = message->end == End::kEpoch;
    message->checkpoint.push_back(ends ? 1 : 0);
    const uint64_t ended = epoch_;
    out.Give(std::move(message));
    if (!ends) return;
    out.FinishEpoch(input, ended);
    epoch_ = ended + 1;
    ended_ = false;
  }

  std::optional<int64_t> expected_bytes() const override { return 0; }

 private:
  void Cut(Block& block) const {
    if (ended_) {
      EndBefore(0, block);
      // Rows that failed after the end do not count.
      block.removed.reset();
      return;
    }
    // A row that failed has no values for the condition.
    if (block.tombstone()) return;
    for (int row = 0; row < block.rows(); ++row) {
      absl::StatusOr<bool> holds = condition_->Holds(block, row);
      if (!holds.ok()) return EndWithError(block, row, std::move(holds).status());
      if (!*holds) return EndBefore(row, block);
    }
  }

  // Rows that failed before it, and were removed, count wherever the messages are cut.
  static void EndBefore(int row, Block& block) {
    if (block.end == End::kError) block.error = absl::OkStatus();
    block.end = End::kEpoch;
    // Wants nothing more of the message, so its checkpoint holds here.
    block.continues = false;
    block.Truncate(row);
  }

  const std::unique_ptr<Condition> condition_;
  uint64_t epoch_ = 0;
  bool ended_ = false;
};

const OpRegistration take_while_registration(
    {
        .name = "take_while",
        .role = ir::Role::kStream,
        .summary = "Gives the rows of every epoch up to the first for which a condition does not hold.",
        .doc = "The condition is one of filter: a column expression or a Python function. That row and those after it "
               "are not given, and errors of rows after it are not part of the result: tf.data's take_while. With "
               "shards each rank ends its own rows, as even= is refused. A row for which the condition cannot be "
               "computed ends the epoch with an error, also under on_error(\"skip\"), as the rows after it depend on "
               "it.",
        .attributes = ConditionAttributes("the rows to give"),
        .python_module = "dataset",
        .python = ConditionSignature("The rows to give, up to the first other row", "hr.col(\"label\") < 10"),
        .example = "ds.take_while(hr.col(\"label\") < 10)",
        .infer = [](const ir::Attributes& attributes,
                    absl::Span<const ir::Schema> inputs) -> absl::StatusOr<ir::Schema> {
          HEADRACE_RETURN_IF_ERROR(CheckCondition("take_while", attributes, inputs[0]));
          return inputs[0];
        },
        .reads = ReadsCondition,
        .is_identity = [](const ir::Attributes& attributes, absl::Span<const ir::Schema>,
                          absl::Span<const std::optional<uint64_t>>) { return AlwaysHolds(attributes); },
        .most_rows = ir::NoMoreRows(),
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Condition> condition, MakeCondition("take_while", arguments));
       return std::make_unique<TakeWhileOperator>(std::move(condition));
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           ir::Traits& traits = properties.traits;
           traits.python = traits.ordered = CallsFunction(arguments.attributes);
           traits.light = !traits.python;
           // Whether the epoch ended here.
           properties.checkpoint_counters = 1;
           properties.passes_rows = true;
         },
     .cardinality = [](const OpArguments& /*arguments*/, absl::Span<const Cardinality> inputs) -> Cardinality {
       return inputs[0].known() && inputs[0].rows == 0 ? inputs[0] : Cardinality::Unknown();
     }});

}  // namespace
}  // namespace headrace
