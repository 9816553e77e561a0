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
      Task::Drop();
    }
    std::vector<Message> inputs;
    std::vector<Checkpoint> before;  // of each input, if messages are split
  };

  void RunMessage(Message message, RowTask& task, int index);
  void Split(Message message, const Checkpoint& before, std::vector<Message>& parts) const;
  void TakeBatchSlotsLocked(Block& block);

  const bool splits_;
  Checkpoint before_;                        // of the next message; under the stage's lock
  uint64_t skip_parts_;                      // of the first message, given out before the run began
  std::unique_ptr<BatchSlots> batch_slots_;  // under the stage's lock
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_ROW_STAGE_H_
