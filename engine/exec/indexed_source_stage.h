// Reads rows of an indexed source: any task may read any row.
// Thread contract: as Stage's.
#ifndef HEADRACE_ENGINE_EXEC_INDEXED_SOURCE_STAGE_H_
#define HEADRACE_ENGINE_EXEC_INDEXED_SOURCE_STAGE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exec/stage.h"
#include "engine/operator/epoch_range.h"
#include "engine/operator/operator.h"
#include "engine/operator/positions.h"
#include "engine/plan/shard_assignment.h"

namespace headrace {

class IndexedSourceStage : public Stage {
 public:
  // `op`: the source; its counter is the number of this rank's rows that were given out before.
  IndexedSourceStage(const PlannedStage& plan, RunControl* control, Parts parts, const PlannedOperator& op,
                     std::unique_ptr<IndexedSource> source, const ShardAssignment& shard, EpochRange epochs);

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
    int rows;           // as many positions apart as there are ranks
    uint64_t local;     // rows of this rank given out so far, these included
    uint64_t pass;      // over the epoch's positions; more than 0: padding
    bool ends_epoch;
  };
  struct ReadTask : Task {
    using Task::Task;
    void Drop() override {
      tickets.clear();
      Task::Drop();
    }
    std::vector<Ticket> tickets;
  };

  bool NextTicketLocked(int most_rows, Ticket& ticket);
  Message Read(const Ticket& ticket);
  Positions PositionsOf(const Ticket& ticket) const;
  void ReadRows(const Ticket& ticket, Block& block) const;
  bool FindRow(const Ticket& ticket, Block& block) const;
  // The identity of row `row` of the ticket.
  FailedRow Identify(const Ticket& ticket, int row) const;

  const PlannedOperator& op_;
  std::unique_ptr<IndexedSource> source_;
  const ShardAssignment shard_;
  const uint64_t size_;
  const uint64_t last_epoch_;
  uint64_t epoch_;
  uint64_t local_;
  uint64_t base_;
  uint64_t epoch_rows_;
  bool exhausted_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_INDEXED_SOURCE_STAGE_H_
