#include <algorithm>
#include <memory>
#include <optional>

#include "engine/operator/operator.h"
#include "ops/order/whole_runs.h"

namespace headrace {
namespace {

class TakeOperator : public StreamOperator {
 public:
  explicit TakeOperator(uint64_t count) : count_(count) {}

  std::optional<int64_t> expected_bytes() const override { return 0; }
  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override {
    return counters[0] <= count_ ? absl::OkStatus() : CounterError("gave ", counters[0], " rows of ", count_);
  }

  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& /*inputs*/) override {
    epoch_ = epoch;
    given_ = counters[0];
  }

  void Receive(int input, Message message, Outbox& out) override {
    // Drops the rest of an epoch whose end-of-epoch marker was sent, including the marker from below.
    if (message->epoch < epoch_) return;
    epoch_ = message->epoch;
    const uint64_t room = count_ - given_;
    if (static_cast<uint64_t>(message->rows()) >= room) EndAfter(room, *message);
    given_ += static_cast<uint64_t>(message->rows());
    message->checkpoint.push_back(given_);
    const bool ends = message->end == End::kEpoch;
    const uint64_t ended = message->epoch;
    out.Give(std::move(message));
    if (!ends) return;
    out.FinishEpoch(input, ended);
    epoch_ = ended + 1;
    given_ = 0;
  }

 private:
  static void EndAfter(uint64_t rows, Block& block) {
    if (block.end == End::kError) block.error = absl::OkStatus();
    block.end = End::kEpoch;
    // Wants nothing more of the message, so its checkpoint holds here.
    block.continues = false;
    block.Truncate(static_cast<int>(rows));
    if (rows == 0) block.Drop();
  }

  const uint64_t count_;
  uint64_t epoch_ = 0;
  uint64_t given_ = 0;
};

class TakenSource : public IndexedSource {
 public:
  TakenSource(std::unique_ptr<IndexedSource> input, uint64_t count) : input_(std::move(input)), count_(count) {}
  uint64_t size() const override { return std::min(count_, input_->size()); }
  IndexedProperties properties() const override { return input_->properties(); }
  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch) override {
    HEADRACE_ASSIGN_OR_RETURN(const BegunEpoch input, input_->Begin(epoch));
    return BegunEpoch{std::min(count_, input.rows), input.chosen};
  }
  uint64_t RunRows(uint64_t first) const override { return input_->RunRows(first); }
  uint64_t numbers() const override { return input_->numbers(); }
  void FindNumbers(uint64_t epoch, absl::Span<uint64_t> positions) const override {
    input_->FindNumbers(epoch, positions);
  }
  absl::Status Read(const RowPosition& wanted, Block& block) const override { return input_->Read(wanted, block); }
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    return input_->ReadRows(wanted, block);
  }
  absl::Status CheckUnchanged() const override { return input_->CheckUnchanged(); }
  void StartRows(const RowPositions& wanted) const override { input_->StartRows(wanted); }
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    input_->Identify(epoch, position, id, provenance);
  }
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override { input_->AddFingerprints(fingerprints); }
  void AddNoteFiles(std::vector<std::string>& paths) const override { input_->AddNoteFiles(paths); }

 private:
  const std::unique_ptr<IndexedSource> input_;
  const uint64_t count_;
};

uint64_t CountOfTake(const OpArguments& arguments) { return static_cast<uint64_t>(arguments.attributes.Int("count")); }

std::optional<uint64_t> MostTaken(const ir::Attributes& attributes, absl::Span<const std::optional<uint64_t>> inputs) {
  const auto count = static_cast<uint64_t>(attributes.Int("count"));
  return std::min(count, inputs[0].value_or(count));
}

bool TakesAll(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/,
              absl::Span<const std::optional<uint64_t>> most_rows) {
  return most_rows[0].has_value() && *most_rows[0] <= static_cast<uint64_t>(attributes.Int("count"));
}

Cardinality Taken(const OpArguments& arguments, absl::Span<const Cardinality> inputs) {
  const uint64_t count = CountOfTake(arguments);
  if (inputs[0].kind == Cardinality::Kind::kUnknown && count > 0) return Cardinality::Unknown();
  return Cardinality::Of(inputs[0].known() ? std::min(count, inputs[0].rows) : count);
}

const OpRegistration take_registration(
    {
        .name = "take",
        .role = ir::Role::kStream,
        .summary = "Gives the first `count` rows of every epoch.",
        .doc = "Over a source with random access it acts on indices, before rows are sharded; elsewhere each rank "
               "takes `count` rows of its own. Later rows are not read, and their errors are not part of the result.",
        .attributes = {{.name = "count", .doc = "Rows to give.", .minimum = 0}},
        .traits = {.indexed = true, .light = true, .by_position = true},
        .python_module = "dataset",
        .example = "ds.take(10)",
        .infer = ir::PassesSchema(),
        .reads = ir::PassesColumns(),
        .is_identity = TakesAll,
        .most_rows = MostTaken,
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       HEADRACE_RETURN_IF_ERROR(CheckWholeRuns(arguments.run_length, CountOfTake(arguments)));
       return std::make_unique<TakeOperator>(CountOfTake(arguments));
     },
     .indexed = [](const OpArguments& arguments,
                   IndexedSources inputs) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
       HEADRACE_RETURN_IF_ERROR(CheckWholeRuns(*inputs[0], CountOfTake(arguments)));
       return std::make_unique<TakenSource>(std::move(inputs[0]), CountOfTake(arguments));
     },
     .properties =
         [](const OpArguments& /*arguments*/, OperatorProperties& properties) {
           // Rows given out in this epoch.
           properties.checkpoint_counters = 1;
           properties.passes_rows = true;
         },
     .cardinality = Taken});

}  // namespace
}  // namespace headrace
