// `ChildrenInTurn` interleaves the rows that a user function makes of several open input rows, its children, like
// tf.data's interleave. An empty slot takes the next row when its turn comes; one whose row has no child left passes
// its turn on and is empty from then on. So what comes next follows from the open rows and the children they gave, and
// the checkpoint holds these. Where the input can read rows by number, it lists the rows with children left
// (listed_rows.h), and these come again alone. Else the input goes on before the oldest of them, and of the rows that
// come again the function is called for the open ones alone.
// Threads: as StreamOperator's; the function is called on the operator's thread.
#ifndef HEADRACE_OPS_CHILDREN_CHILDREN_IN_TURN_H_
#define HEADRACE_OPS_CHILDREN_CHILDREN_IN_TURN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/operator/host.h"
#include "engine/operator/operator.h"
#include "ops/children/open_row.h"
#include "ops/rows/numbered_rows.h"

namespace headrace {

// Which rows give children, and how many at a time.
struct Turns {
  size_t cycle = 1;   // rows that are open at a time
  int64_t block = 1;  // children that one gives in its turn
};

class ChildrenInTurn : public StreamOperator {
 public:
  ChildrenInTurn(const OpArguments& arguments, std::shared_ptr<HostFunction> function, Turns turns);

  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override;
  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) override;
  void Receive(int input, Message message, Outbox& out) override;
  bool has_pending_output() const override { return !rows_.empty() || (!rows_.replaying() && slots_[turn_].open); }
  void Continue(Outbox& out) override;
  void Finish(uint64_t epoch) override;
  size_t held_bytes() const override { return held_bytes_ + rows_.held_bytes(); }

 private:
  // Counters: the slot whose turn it is, the rows it gave in this turn, the rows that come again, and for each slot the
  // place of its row among those, from 1, and the children it gave. No row and a child given: its row has none left.
  // Where rows are listed, their list follows.
  enum Counter : size_t { kTurn, kInTurn, kUsed, kFirstSlot };

  struct Slot {
    bool open = false;
    std::unique_ptr<OpenRow> row;  // null: no child is left
    int64_t given = 0;
    uint64_t number = 0;  // of its row: among those of this rank where rows are listed
    ReplayPoint from;
    uint64_t awaited = 0;  // the place, from 1, of the row that comes again after a restart; 0: none does
    size_t bytes = 0;
  };

  // Of the next row.
  uint64_t NumberOfRow() const;
  // Whether its row comes again after a restart.
  bool Holds(const Slot& slot) const { return slot.row != nullptr || slot.awaited > rows_.next(); }
  bool Replay(Outbox& out);
  bool Step(Outbox& out);
  bool Fill(Slot& slot, Outbox& out);
  void Open(Slot& slot, Block& block);
  std::unique_ptr<OpenRow> MakeRow(Block& block);
  absl::StatusOr<std::unique_ptr<HostChildren>> CallFunction(const Block& block, int row);
  absl::StatusOr<ChildrenFunction*> FunctionOf(uint64_t epoch);
  void Give(Slot& slot, Outbox& out);
  void Count(Slot& slot);
  void Empty(Slot& slot);
  void Close(Slot& slot);
  void Reset(Slot& slot);
  void NextTurn();
  void PassOnRemoved(Block& block, Outbox& out) const;
  void GiveError(absl::Status error, Outbox& out) const;
  Checkpoint CheckpointNow() const;
  Checkpoint CheckpointListing() const;
  // `used`: the rows that come again; `place_of`: of the row of a slot that has one.
  void AppendSlots(uint64_t used, absl::FunctionRef<uint64_t(const Slot&)> place_of, Checkpoint& checkpoint) const;
  void EndEpoch(uint64_t epoch, Outbox& out);
  void Clear();

  const std::shared_ptr<HostFunction> function_;
  const Turns turns_;
  const bool lists_;               // as OperatorProperties::lists_rows
  const std::vector<int> inputs_;  // the columns that it gets
  const OpenRow::Limits limits_;
  const std::vector<std::string> names_;
  const bool draws_;
  const uint64_t seed_;
  const uint64_t salt_;
  NumberedRows rows_;
  std::vector<uint64_t> awaited_;  // where rows are listed: the numbers of those that come first, after a restart
  std::vector<Slot> slots_;
  size_t open_ = 0;
  size_t turn_ = 0;
  int64_t in_turn_ = 0;  // children given in this turn
  size_t held_bytes_ = 0;
  // The function with the values that parameters have in the epoch of the row called last.
  std::shared_ptr<HostFunction> in_epoch_;
  std::optional<uint64_t> epoch_of_function_;
};

// What the operators declare that give children.
std::vector<ir::Attribute> ChildrenAttributes(std::vector<ir::Attribute> own);
absl::StatusOr<ir::Schema> InferMade(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs);
std::vector<ir::ColumnSet> FunctionReads(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                         const ir::ColumnSet& wanted);
OpFactories ChildrenFactories(Turns (*turns_of)(const ir::Attributes& attributes));

}  // namespace headrace

#endif  // HEADRACE_OPS_CHILDREN_CHILDREN_IN_TURN_H_
