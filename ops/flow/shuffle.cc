#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/philox.h"
#include "engine/operator/operator.h"
#include "ops/flow/window_order.h"
#include "ops/rows/block_rows.h"
#include "ops/rows/gather_rows.h"

namespace headrace {
namespace {

// Sends rows in the order of their keys p + u(p)·window, u drawn from the position p. The buffer is a function of
// positions, so it is never saved: a restart begins at the first position not yet given out and reads at most `window`
// rows again. A message is kept whole until the last of its rows is gone.
// Each rank draws its own numbers: with equal numbers, rows that were adjacent before sharding would always meet in the
// same step.
class ShuffleOperator : public StreamOperator {
 public:
  explicit ShuffleOperator(const OpArguments& arguments)
      : window_(static_cast<uint64_t>(arguments.attributes.Int("window"))),
        stream_(StreamOfRank(arguments)),
        cycle_(arguments.epoch_cycle),
        order_(window_),
        slots_(1) {}

  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override {
    HEADRACE_RETURN_IF_ERROR(CheckRowsOfMessage(counters[0]));
    if (counters[1] > kLastPosition) return CounterError("read ", counters[1], " rows");
    // Before a row only rows of the window after it can leave.
    if (counters[2] >= counters[1] && counters[2] - counters[1] <= window_) return absl::OkStatus();
    return CounterError("gave ", counters[2], " rows and kept the one at ", counters[1], " with a window of ", window_);
  }

  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) override {
    epoch_ = epoch;
    skip_input_ = counters[0];
    first_ = position_ = counters[1];
    given_ = counters[2];
    // Rows before the first kept position were given out, and so were this many of those that come now.
    skip_output_ = given_ - first_;
    before_ = inputs;
    since_ = 0;
    order_.Restart(position_);
  }

  void Receive(int /*input*/, Message message, Outbox& out) override {
    if (ended_ || message->epoch < epoch_) return;
    epoch_ = message->epoch;
    const int rows = message->rows();
    if (message->removed != nullptr) KeepRemoved(*message);
    const auto skipped = static_cast<int>(std::min<uint64_t>(skip_input_, static_cast<uint64_t>(rows)));
    skip_input_ -= static_cast<uint64_t>(skipped);
    group_ = std::max(1, rows);
    ended_ = message->end == End::kEpoch;
    if (message->tombstone()) message->end = End::kNone;
    const bool continues = message->continues;
    Checkpoint after = message->checkpoint;
    if (skipped < rows || message->end == End::kError) Keep(std::move(message), skipped);
    since_ = continues ? since_ + static_cast<uint64_t>(rows) : 0;
    if (!continues) before_ = std::move(after);
    // As many rows as came may leave; more are due only when the epoch ends.
    if (has_pending_output()) Continue(out);
  }

  bool has_pending_output() const override { return ended_ || due_given_ < due_.size(); }

  void Continue(Outbox& out) override {
    if (ended_) FillDue(static_cast<size_t>(group_));
    if (due_given_ == due_.size()) {
      EndEpoch(out);
      return;
    }
    // No error was among the rows given before a restart: one that is due now is new.
    const auto given_before = [this] { return skip_output_ > 0 && due_given_ < due_.size() && !AtError(); };
    for (; given_before(); --skip_output_) Release(due_[due_given_++]);
    if (due_given_ < due_.size()) GiveDue(out);
    if (due_given_ < due_.size()) return;
    due_.clear();
    due_given_ = 0;
  }

  void Finish(uint64_t epoch) override {
    if (epoch_ <= epoch) Clear();
  }
  size_t held_bytes() const override { return held_bytes_; }

 private:
  // Beyond it the keys of rows, which are doubles, are not exact.
  static constexpr uint64_t kLastPosition = uint64_t{1} << 53;

  struct Kept {
    Message message;    // null: all its rows are gone
    Checkpoint before;  // of the message before
    size_t bytes = 0;
    int left = 0;       // rows and errors
    uint64_t runs = 0;  // equal for messages of equal RunTypes; 0: it has none
    uint64_t since;     // rows between `before` and its first
    bool tombstone;
  };
  // The location of the row of a position; the position after the last row of a message is its error.
  struct Slot {
    Kept* kept = nullptr;  // null: gone
    int row = 0;

    bool error() const { return row == kept->message->rows(); }
  };

  static uint64_t StreamOfRank(const OpArguments& arguments) {
    const uint64_t stream = RowRandom::StreamOf(arguments.seed, arguments.salt);
    return arguments.run->rank == 0 ? stream : MixKey(stream, arguments.run->rank);
  }

  Slot& SlotOf(uint64_t position) { return slots_[position & (slots_.size() - 1)]; }
  const Slot& SlotOf(uint64_t position) const { return slots_[position & (slots_.size() - 1)]; }

  void Keep(Message message, int from) {
    const int to = message->rows() + (message->end == End::kError ? 1 : 0);
    const size_t bytes = message->footprint();
    held_bytes_ += bytes;
    const uint64_t runs = NumberRuns(*message);
    const bool tombstone = message->tombstone();
    kept_.push_back({std::move(message), before_, bytes, to - from, runs, since_, tombstone});
    Kept& kept = kept_.back();
    ReserveSlots(position_ + static_cast<uint64_t>(to - from) - first_);
    constexpr int kMost = WindowOrder::kMostAtOnce;
    for (int row = from; row < to; row += kMost) KeepRows(kept, row, std::min(kMost, to - row));
  }

  // They leave with the row behind them.
  void KeepRemoved(Block& block) {
    if (skip_input_ > 0) return;
    Block& removed = removed_[position_];
    block.TakeRemovedOf(removed);
    removed.TakeRemovedOf(block);
  }

  void TakeRemoved(uint64_t position, Block& block) {
    const auto found = removed_.find(position);
    if (found == removed_.end()) return;
    block.TakeRemovedOf(found->second);
    removed_.erase(found);
  }

  uint64_t NumberRuns(const Block& block) {
    if (block.rows() < 2) return 0;
    std::optional<RunTypes> types = RunTypesOf(block);
    if (!types.has_value()) return 0;
    if (*types != run_types_ || runs_ == 0) ++runs_;
    run_types_ = *std::move(types);
    return runs_;
  }

  void KeepRows(Kept& kept, int from, int count) {
    keys_.resize(static_cast<size_t>(count));
    const uint64_t key = RowRandom::KeyOf(stream_, RowEpochOf(epoch_, cycle_));
    UniformOfRows(key, position_, absl::MakeSpan(keys_));
    for (int i = 0; i < count; ++i) {
      const uint64_t position = position_ + static_cast<uint64_t>(i);
      keys_[i] = static_cast<double>(position) + keys_[i] * static_cast<double>(window_);
      SlotOf(position) = {&kept, from + i};
    }
    order_.Add(position_, keys_);
    position_ += static_cast<uint64_t>(count);
    order_.TakeBelow(position_, std::numeric_limits<size_t>::max(), due_);
  }

  void ReserveSlots(uint64_t positions) {
    if (positions <= slots_.size()) return;
    std::vector<Slot> old(std::max<size_t>(64, slots_.size()));
    while (old.size() < positions) old.resize(old.size() * 2);
    old.swap(slots_);
    for (uint64_t p = first_; p < position_; ++p) SlotOf(p) = old[p & (old.size() - 1)];
  }

  bool AtError() const { return SlotOf(due_[due_given_]).error(); }

  // After the end of the input, when no row can come before those due.
  void FillDue(size_t rows) {
    const size_t there = due_.size() - due_given_;
    if (there < rows) order_.TakeBelow(std::numeric_limits<uint64_t>::max(), rows - there, due_);
  }

  void GiveDue(Outbox& out) {
    const size_t most = std::min(due_.size() - due_given_, static_cast<size_t>(group_));
    const absl::Span<const uint64_t> due = absl::MakeConstSpan(due_).subspan(due_given_, most);
    const size_t rows = Together(due);
    Message message = SlotOf(due[0]).error() ? TakeError(due[0]) : TakeRows(due.subspan(0, rows));
    TakeRemoved(due[0], *message);
    for (const uint64_t position : due.subspan(0, rows)) Release(position);
    due_given_ += rows;
    given_ += rows;
    message->epoch = epoch_;
    message->checkpoint = CheckpointNow();
    message->continues = false;
    out.Give(std::move(message));
  }

  // How many due rows may leave in one message: an error and a tombstone leave alone, and removed rows come first.
  size_t Together(absl::Span<const uint64_t> due) const {
    const auto alone = [this](uint64_t p) { return SlotOf(p).error() || SlotOf(p).kept->tombstone; };
    if (alone(due[0])) return 1;
    const auto parts = [&](uint64_t p) { return alone(p) || (!removed_.empty() && removed_.count(p) > 0); };
    return static_cast<size_t>(std::find_if(due.begin() + 1, due.end(), parts) - due.begin());
  }

  Message TakeError(uint64_t position) {
    return MakeErrorMessage(epoch_, {}, std::move(SlotOf(position).kept->message->error));
  }

  Message TakeRows(absl::Span<const uint64_t> positions) {
    Block& first = *SlotOf(positions[0]).kept->message;
    // Moves a message of one row.
    if (positions.size() == 1 && first.rows() == 1 && first.end == End::kNone) {
      SeparateRows(first);
      return std::move(SlotOf(positions[0]).kept->message);
    }
    rows_.clear();
    const uint64_t runs = SlotOf(positions[0]).kept->runs;
    bool same_runs = runs != 0;
    for (const uint64_t position : positions) {
      const Slot& slot = SlotOf(position);
      rows_.push_back({slot.kept->message.get(), slot.row});
      same_runs = same_runs && slot.kept->runs == runs;
    }
    return GatherRows(rows_, same_runs);
  }

  void Release(uint64_t position) {
    if (!removed_.empty()) removed_.erase(position);
    Slot& slot = SlotOf(position);
    Kept& kept = *std::exchange(slot.kept, nullptr);
    if (--kept.left > 0) return;
    held_bytes_ -= kept.bytes;
    kept.message.reset();
    while (!kept_.empty() && kept_.front().left == 0) kept_.pop_front();
  }

  Checkpoint CheckpointNow() {
    while (first_ < position_ && SlotOf(first_).kept == nullptr) ++first_;
    Checkpoint checkpoint = first_ < position_ ? SlotOf(first_).kept->before : before_;
    const Slot* const slot = first_ < position_ ? &SlotOf(first_) : nullptr;
    checkpoint.push_back(slot == nullptr ? since_ : slot->kept->since + static_cast<uint64_t>(slot->row));
    checkpoint.push_back(first_);
    checkpoint.push_back(given_);
    return checkpoint;
  }

  void Clear() {
    order_.Restart(position_);
    due_.clear();
    due_given_ = 0;
    kept_.clear();
    removed_.clear();
    held_bytes_ = 0;
    first_ = position_;
    skip_output_ = 0;
  }

  void EndEpoch(Outbox& out) {
    Message end = MakeEndOfEpoch(epoch_, CheckpointNow());
    TakeRemoved(position_, *end);
    out.Give(std::move(end));
    Clear();
    ended_ = false;
    ++epoch_;
    first_ = position_ = given_ = 0;
    // Still to be skipped if the epoch was finished before its rows came again.
    skip_input_ = 0;
    order_.Restart(0);
    before_.assign(before_.size(), 0);
    since_ = 0;
  }

  const uint64_t window_;
  const uint64_t stream_;
  const uint64_t cycle_;
  WindowOrder order_;          // the kept positions that are not due yet
  std::deque<Kept> kept_;      // in order of arrival
  std::vector<Slot> slots_;    // slots of positions first_ … position_ - 1, modulo their number, a power of two
  std::vector<uint64_t> due_;  // positions in the order in which they leave
  size_t due_given_ = 0;
  RunTypes run_types_;  // those of the last message that has them
  uint64_t runs_ = 0;   // how often they changed
  std::vector<RowInBlock> rows_;
  std::vector<double> keys_;
  int group_ = 1;          // rows of the last group
  uint64_t first_ = 0;     // no earlier position is kept
  uint64_t position_ = 0;  // position of the next row
  uint64_t given_ = 0;
  uint64_t skip_input_ = 0;
  uint64_t skip_output_ = 0;
  uint64_t epoch_ = 0;
  bool ended_ = false;
  size_t held_bytes_ = 0;
  Checkpoint before_;                  // of the last message, or of the one before it if that continues
  uint64_t since_ = 0;                 // rows since then
  std::map<uint64_t, Block> removed_;  // rows removed before the one at a position
};

const OpRegistration shuffle_registration(
    {
        .name = "shuffle",
        .version = 2,
        .role = ir::Role::kStream,
        .summary = "Mixes the order of rows within a window.",
        .doc =
            "The row at position p of the epoch gets the key p + u·window with u drawn uniformly from [0, 1), and rows "
            "leave in the order of their keys; at most `window` rows are held. A restart reads at most `window` rows "
            "again. With shards each rank draws independently. If the source has an attribute `shuffle`, prefer that: "
            "it shuffles the whole epoch, makes every order equally likely, and holds no rows.",
        .attributes = {{.name = "window", .doc = "How far a row may move, in rows.", .minimum = 1, .maximum = 1e12}},
        .traits = {.random = true, .one_to_one = true, .by_position = true},
        .python_module = "dataset",
        .example = "ds.shuffle(1000)",
        .infer = ir::PassesSchema(),
        .reads = ir::PassesColumns(),
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       return std::make_unique<ShuffleOperator>(arguments);
     },
     .properties =
         [](const OpArguments& /*arguments*/, OperatorProperties& properties) {
           // Rows used of the input after the checkpoint below, the position of the row after that, and the number of
           // rows given out.
           properties.checkpoint_counters = 3;
         }});

}  // namespace
}  // namespace headrace
