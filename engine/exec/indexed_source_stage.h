// `IndexedSourceStage` reads rows of an indexed source: any task may read any row. Where epochs begin
// (IndexedSource::Begin), a task of its own begins each, with an empty message, while no other runs. Where the files
// are far, a task claims many rows, begins to read all of them, and gives out each as it comes: so hundreds of reads
// are outstanding, and a few threads wait for them. Threads: as Stage's.
#ifndef HEADRACE_ENGINE_EXEC_INDEXED_SOURCE_STAGE_H_
#define HEADRACE_ENGINE_EXEC_INDEXED_SOURCE_STAGE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exec/stage.h"
#include "engine/operator/batch_ranges.h"
#include "engine/operator/epoch_range.h"
#include "engine/operator/operator.h"
#include "engine/operator/positions.h"
#include "engine/plan/shard_assignment.h"

namespace headrace {

// Ranges of batches that a source gives the rows of.
struct SourceRanges {
  const BatchRanges* asked = nullptr;  // null: it gives whole epochs
  uint64_t batch_rows = 1;
};

class IndexedSourceStage : public Stage {
 public:
  // `op`: the source, with rows that it reads first, alone; its counters are the number of this rank's rows that were
  // given out before and, where the user's code chooses rows, a hash of what it chose for the first epoch; 0: not
  // known.
  IndexedSourceStage(const PlannedStage& plan, RunControl* control, Parts parts, const PlannedOperator& op,
                     std::unique_ptr<IndexedSource> source, const ShardAssignment& shard, EpochRange epochs,
                     const SourceRanges& ranges = {});

 protected:
  std::unique_ptr<Task> MakeTask() override { return std::make_unique<ReadTask>(this); }
  void DropOperators() override;
  BlockedReason BlockedLocked() override;
  BlockedReason ClaimLocked(Task& task, int most) override;
  int ClaimableLocked(int most) override;
  void RunTask(Task& task) override;

 private:
  // The content of one message.
  struct Ticket {
    uint64_t epoch;
    uint64_t position;  // of the first row, in the unsharded epoch
    int rows;           // `step_` positions apart
    uint64_t local;     // positions of this rank passed so far, these included
    uint64_t pass;      // over the epoch's positions; more than 0: padding
    uint64_t before;    // positions of the passes before
    uint64_t chosen;    // of the epoch; the second counter
    enum class Kind : uint8_t { kRows, kBegin, kEnd } kind;
  };
  struct ReadTask : Task {
    using Task::Task;
    void Drop() override {
      tickets.clear();
      Task::Drop();
    }
    std::vector<Ticket> tickets;
  };
  // Reads a ticket's rows and puts its messages into task.parts. `found`: the message, if a cache has it.
  void RunTicket(Ticket ticket, Message found, ReadTask& task);

  // Whether rows of the epoch, or its end, can be given out.
  bool BegunLocked() const { return begun_ || Finished(epoch_); }
  Message Begin(const Ticket& ticket);
  void StartEpochLocked(const BegunEpoch& begun);
  // Begins the next range, unless it is not asked for yet, or a call of the source comes first.
  void StartRangeLocked();
  // Whether the user asked for the epoch so far.
  bool AskedLocked() const;
  // The epoch of the data, which messages to users name: all ranges have one.
  uint64_t DataEpoch(uint64_t epoch) const { return ranges_.asked == nullptr ? epoch : ranges_.asked->epoch(); }
  // The epoch that rows have.
  uint64_t RowEpoch(uint64_t epoch) const;
  bool NextTicketLocked(int most_rows, Ticket& ticket);
  // From a position on that may be beyond the epoch's, in its pass.
  Ticket RowsFromLocked(uint64_t position, int rows) const;
  // Of a row to be read first; false: there is none.
  bool FirstTicketLocked(Ticket& ticket);
  // From the position on; 0: the position holds no row.
  uint64_t RowsLeftInRun(uint64_t position) const;
  // Whether this rank's position holds no row, in an epoch of `size` positions that was begun.
  bool InGap(uint64_t local, uint64_t size) const;
  Checkpoint CheckpointOf(const Ticket& ticket) const;
  // The message of a ticket before its rows are read.
  Message MakeMessage(const Ticket& ticket) const;
  // The marker of the end of an epoch, unless a file changed during it.
  Message End(const Ticket& ticket) const;
  // `sought`: no cache has the row.
  Message Read(const Ticket& ticket, bool sought);
  // As the source is asked for them.
  uint64_t FirstPosition(const Ticket& ticket) const {
    return ticket.position + (op_.made_elsewhere ? ticket.before : 0);
  }
  Positions PositionsOf(const Ticket& ticket) const;
  void ReadRows(const Ticket& ticket, Block& block) const;
  bool FindRow(const Ticket& ticket, Block& block) const;
  // Whether nobody wants the rows of the epoch any more.
  bool Unwanted(uint64_t epoch) const { return Finished(epoch) || control_->closed(); }
  // Begins to read the rows of the task, except those that caches have: their messages are `found`, by ticket.
  void StartRows(const ReadTask& task, std::vector<Message>& found) const;
  // The identity of row `row` of the ticket.
  FailedRow Identify(const Ticket& ticket, int row) const;

  const PlannedOperator& op_;
  std::unique_ptr<IndexedSource> source_;
  const ShardAssignment shard_;
  const SourceRanges ranges_;
  const IndexedProperties properties_;
  const uint64_t step_;  // from one position of a message to the next
  const uint64_t last_epoch_;
  // What the state has of the first epoch; 0: nothing.
  uint64_t expected_ = 0;
  size_t read_first_ = 0;  // of the operator's `read_first`
  // The epoch whose rows are given out:
  uint64_t epoch_;
  uint64_t local_;
  uint64_t base_;
  bool begun_;
  bool beginning_ = false;  // a task does
  bool source_begun_;       // the one epoch of all ranges
  uint64_t size_ = 0;
  uint64_t epoch_rows_ = 0;
  uint64_t chosen_ = 0;
  bool exhausted_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_INDEXED_SOURCE_STAGE_H_
