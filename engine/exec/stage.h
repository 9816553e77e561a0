// `Stage` is a run of neighbouring operators that run in one task, with the connector they fill. A task is a stage and
// message numbers; it is claimed only when its input is available and its output has a slot, so a task never blocks.
//
// A stage decides what may be claimed, and runs it. StageTasks owns its tasks, StageCap limits how many run at once,
// StageCost measures what its messages cost, AdmitMessages reserves the memory of its next task, and
// StageCounters counts for its report.
//
// Threads: Claim and Run from any worker. Claim decides under the stage's lock how many tasks may run at once: many,
// one, or up to `cap`, depending on the kind of stage. No lock is held while operators run. Reports from any thread.
#ifndef HEADRACE_ENGINE_EXEC_STAGE_H_
#define HEADRACE_ENGINE_EXEC_STAGE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/exec/connector.h"
#include "engine/exec/element.h"
#include "engine/exec/run_control.h"
#include "engine/exec/stage_cap.h"
#include "engine/exec/stage_cost.h"
#include "engine/exec/stage_counters.h"
#include "engine/exec/stage_report.h"
#include "engine/exec/stage_tasks.h"
#include "engine/exec/task.h"
#include "engine/operator/block.h"
#include "engine/plan/physical_plan.h"

namespace headrace {

using MessageConnector = Connector<Message>;

class Stage {
 public:
  struct Parts {
    std::vector<Stage*> inputs;
    std::vector<Element> elements;
    // Caches by key in this stage and above it, the user's end first; they are searched before a row is worked on.
    std::vector<std::shared_ptr<RowCache>> caches;
    bool calls_here = false;  // the user's code, in this process
  };

  // `plan` and `control` must outlive the stage.
  Stage(const PlannedStage& plan, RunControl* control, Parts parts);
  virtual ~Stage() = default;
  Stage(const Stage&) = delete;

  // A task to run; null: there is none now. It belongs to the caller until Run returns.
  Task* Claim();
  // Whether a full task is ready, for which it is worth waking a thread.
  bool WorthWaking();
  // A task that waits for a network is never light, however many reads share the wait.
  bool light() const { return plan_.far_reads == 0 && cost_.light(); }
  // Runs the claimed task to its end and hands its output over. If memory runs out, the pipeline is aborted.
  void Run(Task& task) noexcept;

  // Called from downstream: no more rows are needed of the epochs up to `epoch` that this stage gives out.
  void FinishEpoch(uint64_t epoch);
  // Called from downstream: user code may run for all epochs up to `epoch`.
  void Ask(uint64_t epoch);

  MessageConnector& output() { return output_; }
  const PlannedStage& plan() const { return plan_; }
  // Tasks at once, now; of a source of far files, reads.
  int cap() const { return cap_.now(); }
  // Tasks at once, now.
  int most_tasks() const { return plan_.far_reads > 0 ? std::min(cap(), PlannedStage::kFarTasks) : cap(); }
  // Fixes the cap for tasks that are claimed from now on, up to the plan's `most_cap`; 0: as planned again. Whoever
  // raises it signals the stage.
  void SetCap(int tasks);
  const std::vector<Stage*>& inputs() const { return inputs_; }
  const std::vector<Element>& elements() const { return elements_; }
  int64_t task_bytes() const { return cost_.task_bytes(); }
  // Bytes that its next task is expected to take; 0: it is not idle; -1: not known.
  int64_t need_while_idle() const {
    const bool busy = running_.load(std::memory_order_relaxed) > 0 || output_.queued() > 0;
    return busy ? 0 : cost_.next_bytes();
  }
  // `made_ns`: when the pipeline was made.
  StageReport report(uint64_t made_ns);
  // What runs now and since when, for a stalled pipeline; empty: nothing.
  std::vector<std::string> DescribeRunning();
  // For a closed pipeline: frees what its operators hold, unless a task is running.
  void DropAtRest();

 protected:
  virtual std::unique_ptr<Task> MakeTask() { return std::make_unique<Task>(this); }
  // Takes numbers and inputs; returns kNone if claimed, else what is missing. Under the stage's lock.
  virtual BlockedReason ClaimLocked(Task& task, int most) = 0;
  // Why nothing can be claimed, or kNone; checked before memory is reserved. Under the stage's lock.
  virtual BlockedReason BlockedLocked() = 0;
  // Messages that a task could take now, up to `most`, if BlockedLocked returns kNone.
  virtual int ClaimableLocked(int most) = 0;
  // The most messages that one task may take: half of the slots, if each message takes one.
  virtual int most_claimed() const { return std::max(1, plan_.window / 2); }
  // How long a task of light messages should take.
  virtual uint64_t task_ns() const;
  virtual void RunTask(Task& task) = 0;
  // Under the stage's lock, when no task runs any more.
  virtual void DropOperators() { elements_.clear(); }
  // Bytes that the next message is expected to make a task take. Under the stage's lock.
  virtual int64_t ExpectedBytesLocked() const { return task_bytes(); }
  // Bytes that so many messages take in addition, for later rows; reserved with the messages, and kept.
  virtual int64_t AheadBytesLocked(int /*messages*/) const { return 0; }
  virtual void KeepAheadLocked(int64_t /*bytes*/) {}
  // The last epoch of the inputs that is part of the stage's epoch `epoch`.
  uint64_t LastInputEpoch(uint64_t epoch) const;
  // Whether no task may begin the epoch yet, because user code would run for it.
  bool Gated(uint64_t epoch) const { return plan_.gated && epoch > asked_.load(std::memory_order_acquire); }
  // Whether downstream needs no more rows of `epoch`.
  bool Finished(uint64_t epoch) const { return epoch < wanted_from_.load(std::memory_order_acquire); }
  // Gives out task.parts under the message's number and empties them: a single part goes to the task's outputs, several
  // are pushed.
  void GiveParts(Task& task);
  void PushParts(uint64_t number, std::vector<Message>& parts);
  // The number of messages that make a task worth its hand-over but delay no other.
  int Grain() const;
  // Reads that one task of a source of far files begins at once.
  int FarReadsOfTask() const { return std::max(1, cap() / most_tasks()); }
  // The number of rows to put in one message, from what a row costs the stages up to the user.
  int GroupRows() const;
  // If a cache has the row, puts it into the block; the row then bypasses the operators below that cache.
  bool TakeCached(uint64_t key, Block& block) const;
  // Pushes task.outputs under the numbers from task.first on.
  void Deliver(Task& task);
  // Sets the row that the task works on, alone.
  void NoteWorked(Task& task, const Block& block);
  void SignalInput(int input);

  const PlannedStage& plan_;
  RunControl* const control_;
  const std::vector<Stage*> inputs_;
  const std::vector<std::shared_ptr<RowCache>> caches_;
  const bool calls_here_;
  std::vector<Element> elements_;
  MessageConnector output_;
  StageCounters counters_;
  std::mutex mutex_;
  std::atomic<int> running_{0};           // changed under the lock
  std::atomic<uint64_t> wanted_from_{0};  // downstream wants no epoch below it

 private:
  Task* ClaimOpenLocked();
  bool ClaimAdmittedLocked(Task& task, int most);
  // Runs `body`; an exception aborts the pipeline.
  template <typename Body>
  void Guard(Body body);
  int FarGrain() const;
  // As many messages as the budget has memory for.
  int AdmitLocked(int64_t message_bytes);
  // Whether no stage from this one up to the user has output ready, and none of the others can run.
  bool LastResort();
  bool CouldRun();
  void PushOne(uint64_t number, Message message, bool more);
  void Narrow(int rows);
  void NoteClaimLocked(Task& task);
  void NoteEndLocked(Task& task, int64_t peak, uint64_t elapsed_ns, uint64_t reads);

  Stage* consumer_ = nullptr;
  StageCap cap_;
  StageCost cost_;
  std::atomic<uint64_t> asked_{0};
  std::atomic<int> limit_;  // of the output connector
  StageTasks tasks_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STAGE_H_
