#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/operator/operator.h"
#include "engine/operator/positions.h"
#include "ops/order/whole_runs.h"

namespace headrace {
namespace {

class SkipOperator : public StreamOperator {
 public:
  explicit SkipOperator(uint64_t count) : count_(count) {}

  std::optional<int64_t> expected_bytes() const override { return 0; }
  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override {
    return counters[0] <= count_ ? absl::OkStatus() : CounterError("left out ", counters[0], " rows of ", count_);
  }

  void Start(uint64_t /*epoch*/, absl::Span<const uint64_t> counters, const Checkpoint& /*inputs*/) override {
    skipped_ = counters[0];
  }

  // Also passes on the error of a skipped row: it is not known what else its message held.
  void Receive(int /*input*/, Message message, Outbox& out) override {
    const uint64_t drop = std::min(count_ - skipped_, static_cast<uint64_t>(message->rows()));
    if (drop > 0) {
      Message rest = message->TakeRest(static_cast<int>(drop));
      rest->TakeRemovedOf(*message);
      message = std::move(rest);
    }
    skipped_ += drop;
    message->checkpoint.push_back(skipped_);
    if (message->end == End::kEpoch) skipped_ = 0;
    if (!message->idle()) out.Give(std::move(message));
  }

 private:
  const uint64_t count_;
  uint64_t skipped_ = 0;
};

class SkippedSource : public IndexedSource {
 public:
  SkippedSource(std::unique_ptr<IndexedSource> input, uint64_t count) : input_(std::move(input)), skipped_(count) {}
  uint64_t size() const override { return Left(input_->size()); }
  IndexedProperties properties() const override { return input_->properties(); }
  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch) override {
    HEADRACE_ASSIGN_OR_RETURN(const BegunEpoch input, input_->Begin(epoch));
    return BegunEpoch{Left(input.rows), input.chosen};
  }
  uint64_t RunRows(uint64_t first) const override { return input_->RunRows(first + skipped_); }
  uint64_t numbers() const override { return input_->numbers(); }
  void FindNumbers(uint64_t epoch, absl::Span<uint64_t> positions) const override {
    for (uint64_t& position : positions) position += skipped_;
    input_->FindNumbers(epoch, positions);
  }
  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    return input_->Read({wanted.epoch, wanted.position + skipped_, wanted.occurrence_key}, block);
  }
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    Positions of_input(wanted.positions.begin(), wanted.positions.end());
    for (uint64_t& position : of_input) position += skipped_;
    return input_->ReadRows({wanted.epoch, of_input, wanted.occurrence_keys}, block);
  }
  absl::Status CheckUnchanged() const override { return input_->CheckUnchanged(); }
  void StartRows(const RowPositions& wanted) const override {
    Positions of_input(wanted.positions.begin(), wanted.positions.end());
    for (uint64_t& position : of_input) position += skipped_;
    input_->StartRows({wanted.epoch, of_input});
  }
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    input_->Identify(epoch, position + skipped_, id, provenance);
  }
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override { input_->AddFingerprints(fingerprints); }
  void AddNoteFiles(std::vector<std::string>& paths) const override { input_->AddNoteFiles(paths); }

 private:
  uint64_t Left(uint64_t rows) const { return rows - std::min(skipped_, rows); }

  const std::unique_ptr<IndexedSource> input_;
  const uint64_t skipped_;
};

uint64_t CountOfSkip(const OpArguments& arguments) { return static_cast<uint64_t>(arguments.attributes.Int("count")); }

Cardinality Left(const OpArguments& arguments, absl::Span<const Cardinality> inputs) {
  if (!inputs[0].known()) return inputs[0];
  return Cardinality::Of(inputs[0].rows - std::min(inputs[0].rows, CountOfSkip(arguments)));
}

const OpRegistration skip_registration(
    {
        .name = "skip",
        .role = ir::Role::kStream,
        .summary = "Leaves out the first `count` rows of every epoch.",
        .doc = "Over a source with random access it acts on indices, before rows are sharded, and skipped rows are "
               "never read; elsewhere each rank leaves out `count` rows of its own. An error in a skipped row may or "
               "may not be raised.",
        .attributes = {{.name = "count", .doc = "Rows to leave out.", .minimum = 0}},
        .traits = {.indexed = true, .light = true, .by_position = true},
        .python_module = "dataset",
        .example = "ds.skip(10)",
        .infer = ir::PassesSchema(),
        .reads = ir::PassesColumns(),
        .is_identity = [](const ir::Attributes& attributes, absl::Span<const ir::Schema>,
                          absl::Span<const std::optional<uint64_t>>) { return attributes.Int("count") == 0; },
        .most_rows = ir::NoMoreRows(),
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       HEADRACE_RETURN_IF_ERROR(CheckWholeRuns(arguments.run_length, CountOfSkip(arguments)));
       return std::make_unique<SkipOperator>(CountOfSkip(arguments));
     },
     .indexed = [](const OpArguments& arguments,
                   IndexedSources inputs) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
       HEADRACE_RETURN_IF_ERROR(CheckWholeRuns(*inputs[0], CountOfSkip(arguments)));
       return std::make_unique<SkippedSource>(std::move(inputs[0]), CountOfSkip(arguments));
     },
     .properties =
         [](const OpArguments& /*arguments*/, OperatorProperties& properties) {
           // Rows left out so far in this epoch.
           properties.checkpoint_counters = 1;
         },
     .cardinality = Left});

}  // namespace
}  // namespace headrace
