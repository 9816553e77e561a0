// Applies row operators: any task may work on any message.
// Thread contract: as Stage's.
#ifndef HEADRACE_ENGINE_EXEC_ROW_STAGE_H_
#define HEADRACE_ENGINE_EXEC_ROW_STAGE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exec/stage.h"
#include "engine/operator/batch_memory.h"

namespace headrace {

class RowStage : public Stage {
 public:
  // `op`: the last operator. `batch_slots`: slots of the batches into which its rows are written; null: none.
  RowStage(const PlannedStage& plan, RunControl* control, Parts parts, const PlannedOperator& op,
           std::unique_ptr<BatchSlots> batch_slots);

 protected:
  std::unique_ptr<Task> MakeTask() override { return std::make_unique<RowTask>(this); }
  void DropOperators() override;
  BlockedReason BlockedLocked() override;
  BlockedReason ClaimLocked(Task& task, int most) override;
  int ClaimableLocked(int most) override;
  int64_t AheadBytesLocked(int messages) const override;
  void KeepAheadLocked(int64_t bytes) override;
  void RunTask(Task& task) override;

 private:
  struct RowTask : Task {
    using Task::Task;
    void Drop() override {
      inputs.clear();
      before.clear();
      given.clear();
      Task::Drop();
    }
    std::vector<Message> inputs;
    // The checkpoint before each input, if messages are split.
    std::vector<Checkpoint> before;
    std::vector<uint64_t> given;  // parts that were given out before the run began
  };

  void RunMessage(Message message, RowTask& task, int index);
  // `before`: the checkpoint before the message, with the operator's own counter.
  void Split(Message message, Checkpoint before, std::vector<Message>& parts) const;
  void NoteSplitLocked(const Block& block, RowTask& task);
  void TakeBatchSlotsLocked(Block& block);

  const bool splits_;
  // The checkpoint before the next message, with the counter of the operator that splits it. Under the stage's lock.
  Checkpoint before_;
  uint64_t given_;                           // parts of the next rows, given out before the run began; likewise
  std::unique_ptr<BatchSlots> batch_slots_;  // under the stage's lock
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_ROW_STAGE_H_
