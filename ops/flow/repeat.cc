#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "engine/operator/operator.h"
#include "ops/rows/separate_copy.h"

namespace headrace {
namespace {

// Runs the child at epochs e·n + pass (endless: e·2³² + pass) and drops its end-of-epoch markers, so that a batch above
// crosses them. Rows are given the identity (e, key mixed with pass).
// A restart must know whether the pass had rows. Its state says so where rows that fail are skipped. An endless repeat
// otherwise goes on from the start of the pass until it has a row, so counters of the input above 0 say that it had.
class RepeatOperator : public StreamOperator {
 public:
  // The number of passes reserved for an endless epoch. It uses all but the last, so that an endless repeat of endless
  // repeats counts to at most EpochRange::kMost.
  static constexpr uint64_t kEndlessNumbers = uint64_t{1} << 32;

  RepeatOperator(std::optional<uint64_t> count, uint64_t epoch_cycle, bool skip_failed)
      : numbers_(count.value_or(kEndlessNumbers)),
        last_pass_(count.value_or(kEndlessNumbers - 1) - 1),
        endless_(!count.has_value()),
        cycle_(epoch_cycle),
        skip_failed_(skip_failed) {}

  std::optional<int64_t> expected_bytes() const override { return 0; }
  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override {
    if (counters[0] > last_pass_) return CounterError("stood at pass ", counters[0], " of 0 to ", last_pass_);
    if (!skip_failed_ || counters[1] <= kAllFailed) return absl::OkStatus();
    return CounterError("had ", counters[1], " for what became of a pass's rows, which is 0 to ", kAllFailed);
  }

  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) override {
    next_epoch_ = epoch;
    const auto counts = [](uint64_t counter) { return counter > 0; };
    const bool had_rows = skip_failed_ ? counters[1] == kHadRows : std::any_of(inputs.begin(), inputs.end(), counts);
    rows_in_pass_ = had_rows ? 1 : 0;
    if (skip_failed_ && counters[1] == kAllFailed) last_failed_ = DataError("it came before the state was taken");
  }

  void Receive(int /*input*/, Message message, Outbox& out) override {
    const uint64_t epoch = message->epoch / numbers_;
    if (epoch < next_epoch_) return;
    const uint64_t pass = message->epoch % numbers_;
    if (message->tombstone()) {
      last_failed_ = SeparateCopy(message->error);
    } else {
      rows_in_pass_ += static_cast<uint64_t>(message->rows());
    }
    for (RowId& id : message->ids) {
      id.epoch = RowEpochOf(epoch, cycle_);
      id.key = MixKey(id.key, pass);
    }
    message->epoch = epoch;
    if (endless_ && !skip_failed_ && rows_in_pass_ == 0) message->checkpoint.assign(message->checkpoint.size(), 0);
    message->checkpoint.push_back(pass);
    if (skip_failed_) message->checkpoint.push_back(rows_in_pass_ > 0 ? kHadRows : last_failed_.ok() ? 0 : kAllFailed);
    if (message->end == End::kEpoch && rows_in_pass_ == 0 && !last_failed_.ok()) GiveError(*message, pass, out);
    if (message->end == End::kEpoch) EndPass(*message, epoch, pass);
    if (message->end == End::kEpoch) next_epoch_ = epoch + 1;
    if (!message->idle()) out.Give(std::move(message));
  }

  void Finish(uint64_t epoch) override { wanted_from_ = std::max(wanted_from_, epoch + 1); }

 private:
  // What a checkpoint says of the rows of a pass; 0: there was none.
  static constexpr uint64_t kHadRows = 1;
  static constexpr uint64_t kAllFailed = 2;

  // Rows and errors first: the end of the epoch stays.
  void GiveError(Block& block, uint64_t pass, Outbox& out) {
    if (block.tombstone()) {
      Message tombstone =
          MakeTombstone(block.epoch, block.checkpoint,
                        {block.ids[0], block.provenances[0], std::exchange(block.error, absl::OkStatus())});
      tombstone->TakeRemovedOf(block);
      out.Give(std::move(tombstone));
      block.DropRows();
    }
    absl::Status error = NothingLeftError(Cat("pass ", pass, " of repeat()"), last_failed_);
    Message failed = MakeErrorMessage(block.epoch, block.checkpoint, std::move(error));
    failed->TakeRemovedOf(block);
    out.Give(std::move(failed));
  }

  void EndPass(Block& block, uint64_t epoch, uint64_t pass) {
    const bool nothing = rows_in_pass_ == 0;
    rows_in_pass_ = 0;
    last_failed_ = absl::OkStatus();
    if (pass == last_pass_) {
      if (!endless_ || epoch < wanted_from_) return;
      block.end = End::kError;
      block.error = UnsupportedError("repeat() without a count went through ", last_pass_ + 1,
                                     " passes, which is all that it can count; give it a count");
      return;
    }
    block.end = End::kNone;
    // Resumes at the start of the next pass.
    block.checkpoint.assign(block.checkpoint.size(), 0);
    block.checkpoint[block.checkpoint.size() - (skip_failed_ ? 2 : 1)] = pass + 1;
    if (!endless_ || !nothing) return;
    block.end = End::kError;
    block.error =
        GraphError("repeat() without a count never ends over a data set that gives no rows: it gave no rows in pass ",
                   pass, "; give repeat() a count if passes may be empty");
  }

  const uint64_t numbers_;  // passes reserved per epoch
  const uint64_t last_pass_;
  const bool endless_;
  const uint64_t cycle_;
  const bool skip_failed_;
  uint64_t next_epoch_ = 0;
  uint64_t wanted_from_ = 0;   // epochs below it are not needed
  uint64_t rows_in_pass_ = 0;  // that did not fail
  absl::Status last_failed_;   // of the pass
};

std::optional<uint64_t> CountOfRepeat(const OpArguments& arguments) {
  if (arguments.attributes.IsNone("count")) return std::nullopt;
  return static_cast<uint64_t>(arguments.attributes.Int("count"));
}

EpochMapping PassesOf(const OpArguments& arguments) {
  const uint64_t numbers = CountOfRepeat(arguments).value_or(RepeatOperator::kEndlessNumbers);
  const bool endless = !CountOfRepeat(arguments).has_value();
  return {.stride = numbers, .runs = endless ? numbers - 1 : numbers, .counter = 0};
}

Cardinality Repeated(const OpArguments& arguments, absl::Span<const Cardinality> inputs) {
  const std::optional<uint64_t> count = CountOfRepeat(arguments);
  if (!count.has_value()) return Cardinality::Endless();
  if (!inputs[0].known()) return inputs[0];
  return Cardinality::Product(inputs[0].rows, *count);
}

const OpRegistration repeat_registration(
    {
        .name = "repeat",
        .role = ir::Role::kStream,
        .summary = "Gives the epochs of its input one after the other, as one epoch.",
        .doc = "Each pass is an epoch of the input: shuffles and random kernels draw anew. A batch above crosses from "
               "one pass into the next. Without a count it never ends.",
        .attributes = {{.name = "count",
                        .doc = "Passes in an epoch; None: endless.",
                        .default_value = "None",
                        .nullable = true,
                        .minimum = 1,
                        .maximum = 1 << 30}},
        .traits = {.light = true, .repeats = true},
        .python_module = "dataset",
        .example = "ds.repeat(2)",
        .infer = ir::PassesSchema(),
        .reads = ir::PassesColumns(),
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       return std::make_unique<RepeatOperator>(CountOfRepeat(arguments), arguments.epoch_cycle,
                                               arguments.run->skip_failed);
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           // The current pass; where rows that fail are skipped, also what became of its rows.
           properties.checkpoint_counters = arguments.run->skip_failed ? 2 : 1;
           properties.epochs = PassesOf(arguments);
           properties.passes_rows = true;
           // The passes of a cycle have consecutive numbers; if they exceed 64 bits, none recurs.
           uint64_t cycle = 0;
           const bool beyond = __builtin_mul_overflow(arguments.epoch_cycle, properties.epochs.stride, &cycle);
           properties.input_cycle = beyond ? 0 : cycle;
         },
     .cardinality = Repeated});

}  // namespace
}  // namespace headrace
