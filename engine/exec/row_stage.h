// `RowStage` applies row operators: any task may work on any message.
// Threads: as Stage's.
#ifndef HEADRACE_ENGINE_EXEC_ROW_STAGE_H_
#define HEADRACE_ENGINE_EXEC_ROW_STAGE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exec/stage.h"
#include "engine/operator/batch_memory.h"
#include "engine/operator/row_runs.h"

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
  int most_claimed() const override;
  uint64_t task_ns() const override;
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
      run.clear();
      given_run = given_out = 0;
      Task::Drop();
    }
    std::vector<Message> inputs;
    // The checkpoint before each input, if messages are split.
    std::vector<Checkpoint> before;
    std::vector<uint64_t> given;  // parts that were given out before the run began
    // The inputs whose rows are in the present run.
    std::vector<size_t> run;
    size_t given_run = 0;  // of those
    size_t given_out = 0;  // of all inputs
  };

  void RunMessage(Message message, RowTask& task, int index);
  // Drops what is not needed any more, and looks for the row in the caches.
  void BeginMessage(Block& block) const;
  // Hands rows of messages that follow each other to the operator in runs.
  void RunTogether(RowTask& task);
  // Whether the message has to be applied alone, because the operator makes calls for it that are no part of a run.
  bool GoesAlone(const Block& block) const;
  // Applies the messages from the first that was not given out to before `end`, and gives them out.
  void ApplyRun(RowTask& task, size_t end);
  // Gives out the messages before `end`; of those in the run, which are done, each took `row_ns`.
  void GiveRun(RowTask& task, size_t end, uint64_t row_ns);
  // `before`: the checkpoint before the message, with the operator's own counter.
  void Split(Message message, Checkpoint before, std::vector<Message>& parts) const;
  void NoteSplitLocked(const Block& block, RowTask& task);
  void TakeBatchSlotsLocked(Block& block);

  const bool splits_;
  const RunOperator* const run_;  // the only operator; null: it takes messages one by one
  // The checkpoint before the next message, with the counter of the operator that splits it. Under the stage's lock.
  Checkpoint before_;
  uint64_t given_;                           // parts of the next rows, given out before the run began; likewise
  std::unique_ptr<BatchSlots> batch_slots_;  // under the stage's lock
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_ROW_STAGE_H_
