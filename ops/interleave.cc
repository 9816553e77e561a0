#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ops/child_rows.h"
#include "ops/numbered_rows.h"

namespace headrace {
namespace {

constexpr int64_t kMostOpen = 1024;
constexpr uint64_t kMostRows = uint64_t{1} << 62;

// Gives the children of `cycle` open rows in turn, as tf.data's interleave does. An empty slot takes the next row when
// its turn comes; one whose row has no child left passes its turn on and is empty from then on. So what comes next
// follows from the open rows and the children they gave, and the checkpoint holds these: the input goes on before the
// oldest row with children left, and of the rows that come again only the open ones are kept.
class InterleaveOperator : public StreamOperator {
 public:
  explicit InterleaveOperator(const OpArguments& arguments)
      : block_(arguments.attributes.Int("block")),
        children_("interleave", arguments.inputs[0]),
        slots_(static_cast<size_t>(arguments.attributes.Int("cycle"))) {}

  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override {
    if (counters[kTurn] >= slots_.size()) return CounterError("gave rows of slot ", counters[kTurn]);
    if (counters[kInTurn] >= static_cast<uint64_t>(block_)) {
      return CounterError("gave ", counters[kInTurn], " rows in one turn");
    }
    if (counters[kUsed] > kMostRows) return CounterError("used ", counters[kUsed], " rows");
    for (size_t i = kFirstSlot; i < counters.size(); i += 2) {
      if (counters[i] > counters[kUsed]) return CounterError("held row ", counters[i], " of ", counters[kUsed]);
      if (counters[i + 1] > kMostRows) return CounterError("gave ", counters[i + 1], " rows of one");
    }
    return absl::OkStatus();
  }

  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) override {
    Clear();
    rows_.Start(epoch, inputs, counters[kUsed]);
    turn_ = counters[kTurn];
    in_turn_ = static_cast<int64_t>(counters[kInTurn]);
    for (size_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_[i];
      slot.awaited = counters[kFirstSlot + 2 * i];
      slot.given = static_cast<int64_t>(counters[kFirstSlot + 2 * i + 1]);
      slot.open = slot.awaited == 0 && slot.given > 0;
      open_ += slot.open ? 1 : 0;
    }
  }

  void Receive(int /*input*/, Message message, Outbox& out) override {
    const bool waits = owes();
    rows_.Push(std::move(message));
    if (!waits) Continue(out);
  }
  bool owes() const override { return !rows_.empty() || (!rows_.replaying() && slots_[turn_].open); }
  void Continue(Outbox& out) override {
    while (rows_.replaying() ? Replay(out) : Step(out)) continue;
  }

  void Finish(uint64_t epoch) override {
    if (rows_.epoch() > epoch) return;
    Clear();
    rows_.Finish(epoch);
  }
  size_t held_bytes() const override { return held_bytes_ + rows_.held_bytes(); }

 private:
  // Counters: the slot whose turn it is, the rows it gave in this turn, the rows that come again, and for each slot the
  // number of its row among those, from 1, and the children it gave. No row and a child given: its row has none left.
  enum Counter : size_t { kTurn, kInTurn, kUsed, kFirstSlot };

  struct Slot {
    bool open = false;
    Message row;  // null: no child is left
    int64_t count = 0;
    int64_t given = 0;
    uint64_t number = 0;
    ReplayPoint from;
    uint64_t awaited = 0;  // the number, from 1, of the row that comes again after a restart; 0: none does
    size_t bytes = 0;

    void Reset() {
      open = false;
      row.reset();
      count = given = 0;
      awaited = 0;
      bytes = 0;
    }
  };

  // Uses a row that was used before the restart; false: none came.
  bool Replay(Outbox& out) {
    Block* const block = rows_.Current();
    if (block == nullptr) return false;
    if (!rows_.HasRow()) {
      if (block->end == End::kEpoch) {
        rows_.EndReplay();
        return true;
      }
      if (block->end == End::kError) GiveError(std::move(block->error), out);
      rows_.Pop();
      return true;
    }
    const uint64_t number = rows_.next() + 1;
    const auto awaits = [number](const Slot& slot) { return slot.awaited == number; };
    const auto found = std::find_if(slots_.begin(), slots_.end(), awaits);
    if (found != slots_.end()) return Open(*found, *block, out);
    rows_.Pass();
    return true;
  }

  // Takes one step; false: gave a message, or needs one.
  bool Step(Outbox& out) {
    Slot& slot = slots_[turn_];
    if (!slot.open) return Fill(slot, out);
    if (slot.row != nullptr && slot.given < slot.count) {
      Give(slot, out);
      return false;
    }
    Close(slot);
    NextTurn();
    return true;
  }

  bool Fill(Slot& slot, Outbox& out) {
    Block* const block = rows_.Current();
    if (block == nullptr) return false;
    if (block->removed != nullptr) {
      PassOnRemoved(*block, out);
      return false;
    }
    if (rows_.HasRow()) return Open(slot, *block, out);
    if (block->end == End::kEpoch) {
      if (open_ == 0) {
        EndEpoch(block->epoch, out);
        return false;
      }
      NextTurn();
      return true;
    }
    if (block->end == End::kError) GiveError(std::move(block->error), out);
    rows_.Pop();
    return true;
  }

  bool Open(Slot& slot, Block& block, Outbox& out) {
    const RowId id = block.ids[rows_.row()];
    const Provenance provenance = block.provenances[rows_.row()];
    const bool failed = block.tombstone();
    // One child, itself, stands for a row that failed.
    slot.row = failed ? MakeTombstone(block.epoch, {}, {id, provenance, std::exchange(block.error, absl::OkStatus())})
                      : TakeRow(block, rows_.row());
    slot.number = rows_.next();
    slot.from = rows_.point();
    rows_.Pass();
    const absl::StatusOr<int64_t> count = failed ? 1 : children_.CountOf(*slot.row, 0);
    if (!count.ok()) {
      slot.Reset();
      absl::Status error = count.status();
      AddErrorField(error, ErrorField::kFile, DescribeProvenance(provenance));
      AddErrorField(error, ErrorField::kRow, DescribeRowId(id));
      GiveError(std::move(error), out);
      return false;
    }
    slot.count = *count;
    slot.given = slot.awaited == 0 ? 0 : std::min(slot.given, slot.count);
    slot.awaited = 0;
    slot.open = true;
    ++open_;
    slot.bytes = slot.row->footprint();
    held_bytes_ += slot.bytes;
    return true;
  }

  void Give(Slot& slot, Outbox& out) {
    const int64_t count = std::min(block_ - in_turn_, slot.count - slot.given);
    Message message = slot.row->tombstone() ? std::move(slot.row) : children_.Take(*slot.row, 0, slot.given, count);
    slot.given += count;
    if (slot.given == slot.count) Empty(slot);
    in_turn_ += count;
    if (in_turn_ == block_) NextTurn();
    message->epoch = rows_.epoch();
    message->checkpoint = CheckpointNow();
    out.Give(std::move(message));
  }

  void Empty(Slot& slot) {
    held_bytes_ -= slot.bytes;
    slot.bytes = 0;
    slot.row.reset();
  }

  void Close(Slot& slot) {
    Empty(slot);
    slot.Reset();
    --open_;
  }

  void NextTurn() {
    turn_ = turn_ + 1 == slots_.size() ? 0 : turn_ + 1;
    in_turn_ = 0;
  }

  // They belong to what comes next of the input, and count where it is asked for.
  void PassOnRemoved(Block& block, Outbox& out) const {
    auto note = std::make_unique<Block>();
    note->epoch = rows_.epoch();
    note->checkpoint = CheckpointNow();
    note->continues = true;
    note->TakeRemovedOf(block);
    out.Give(std::move(note));
  }

  void GiveError(absl::Status error, Outbox& out) {
    out.Give(MakeErrorMessage(rows_.epoch(), CheckpointNow(), std::move(error)));
  }

  Checkpoint CheckpointNow() const {
    const Slot* oldest = nullptr;
    for (const Slot& slot : slots_) {
      if (slot.row != nullptr && (oldest == nullptr || slot.number < oldest->number)) oldest = &slot;
    }
    const ReplayPoint& from = oldest == nullptr ? rows_.point() : oldest->from;
    Checkpoint checkpoint = from.before;
    checkpoint.push_back(turn_);
    checkpoint.push_back(static_cast<uint64_t>(in_turn_));
    checkpoint.push_back(rows_.Since(from));
    for (const Slot& slot : slots_) {
      checkpoint.push_back(slot.row == nullptr ? 0 : slot.number - from.first + 1);
      checkpoint.push_back(slot.row == nullptr ? (slot.open ? 1 : 0) : static_cast<uint64_t>(slot.given));
    }
    return checkpoint;
  }

  void EndEpoch(uint64_t epoch, Outbox& out) {
    out.Give(MakeEndOfEpoch(epoch, CheckpointNow()));
    Clear();
    rows_.EndEpoch();
  }

  void Clear() {
    for (Slot& slot : slots_) slot.Reset();
    open_ = 0;
    held_bytes_ = 0;
    turn_ = 0;
    in_turn_ = 0;
  }

  const int64_t block_;
  const ChildRows children_;
  NumberedRows rows_;
  std::vector<Slot> slots_;
  size_t open_ = 0;
  size_t turn_ = 0;
  int64_t in_turn_ = 0;  // children given in this turn
  size_t held_bytes_ = 0;
};

const OpRegistration registration(
    {
        .name = "interleave",
        .role = ir::Role::kStream,
        .summary = "Gives the rows that a Python function makes of each row, of several rows in turn.",
        .doc =
            "The function gives rows as that of flat_map does, and they get the same keys. `cycle` rows are open at a "
            "time: each in turn gives `block` of its rows, and a turn ends early if none is left. Then the next row "
            "takes its place when its turn comes again. The order is that of tf.data's interleave, whatever the number "
            "of workers. A state holds the open rows: a restart calls the function again for the oldest open row and "
            "for those behind it that were used.",
        .attributes = {{.name = "cycle",
                        .doc = "Rows that are open at a time.",
                        .minimum = 1,
                        .maximum = static_cast<double>(kMostOpen)},
                       {.name = "block",
                        .doc = "Rows that one gives in its turn.",
                        .default_value = "1",
                        .minimum = 1,
                        .maximum = 1 << 30}},
        .traits = {.one_to_many = true},
        .python_module = "dataset",
        .python =
            {.parameters = "function: Callable[..., Any], columns: str | Sequence[str], output: str | Sequence[str] | "
                           "None = None, *, cycle: int, block: int = 1",
             .docs = {{"function",
                       "Gives the rows of one: an iterable of values for one output column, otherwise of tuples in "
                       "the order of `output`, or of dicts, which agree in dtype and shape. If it has a parameter "
                       "`rng`, it gets a numpy.random.Generator for the row."},
                      {"columns", "The columns that it gets."},
                      {"output", "The columns that it gives; None: `columns`."},
                      {"cycle"},
                      {"block"}},
             .body = "return hosted.interleaved(self, function, columns, output, cycle, block)"},
        .example = "ds.interleave(lambda image: [image, image[::-1]], \"image\", cycle=4)",
        .infer = [](const ir::Attributes& /*attributes*/,
                    absl::Span<const ir::Schema> inputs) { return InferChildren("interleave", inputs[0]); },
        // Reads all columns, because their lengths must agree even if they are unused.
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       return std::make_unique<InterleaveOperator>(arguments);
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           properties.checkpoint_counters = 3 + 2 * static_cast<int>(arguments.attributes.Int("cycle"));
           properties.splits_messages = true;
         },
     .cardinality =
         [](const OpArguments& arguments, absl::Span<const Cardinality> inputs) {
           return CountChildren(arguments.inputs[0], inputs[0]);
         }});

}  // namespace
}  // namespace headrace
