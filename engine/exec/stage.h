// A stage: neighbouring operators that run in one task, with the connector they fill. A task is (stage, numbers);
// it is claimed only when its input is there and its output has a slot, so a task never blocks.
//
// A stage decides what may be claimed and runs it. What its messages cost is told by StageCost, what memory its next
// task gets by AdmitMessages, what it counts for reports stands in StageCounters.
//
// Thread contract: Claim and Run from any worker; what a kind of stage allows at once (many tasks, one, or as many
// as `cap`) is decided in Claim, under the stage's lock. No lock is held while operators run.
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
#include "engine/exec/read_ahead.h"
#include "engine/exec/run_control.h"
#include "engine/exec/stage_cost.h"
#include "engine/exec/stage_counters.h"
#include "engine/exec/stage_report.h"
#include "engine/exec/task.h"
#include "engine/operator/block.h"
#include "engine/operator/operator.h"
#include "engine/plan/physical_plan.h"

namespace headrace {

using MessageConnector = Connector<Message>;

// One operator within a stage, made ready to run.
struct Element {
  const PlannedOperator* plan = nullptr;
  std::unique_ptr<RowOperator> row;
  std::unique_ptr<StreamOperator> stream;
  const RowCache* cache = nullptr;  // of a row operator that has one
};

// The error, with the operator's name and the line of the script that made it.
void AddOperator(absl::Status& error, const PlannedOperator& op);

class Stage {
 public:
  struct Parts {
    std::vector<Stage*> inputs;
    std::vector<Element> elements;
    // Caches by key in this stage and above it, the user's end first: to look in before a row is worked on.
    std::vector<std::shared_ptr<RowCache>> caches;
  };

  // `plan` and `control` outlive the stage.
  Stage(const PlannedStage& plan, RunControl* control, Parts parts);
  virtual ~Stage() = default;
  Stage(const Stage&) = delete;

  // A task to be run; null: there is none now. It is the caller's until Run has returned.
  Task* Claim();
  // Has a full task ready: worth waking a thread for.
  bool WorthWaking();
  bool light() const { return cost_.light(); }
  // Runs the claimed task to its end and hands its output over. Where memory ends in its midst the pipeline is aborted.
  void Run(Task& task) noexcept;

  // From downstream: enough of all epochs up to `epoch` of what this stage gives out.
  void FinishEpoch(uint64_t epoch);
  // From downstream: user code may run for all epochs up to `epoch`.
  void Ask(uint64_t epoch);

  MessageConnector& output() { return output_; }
  const PlannedStage& plan() const { return plan_; }
  // Tasks at once, now.
  int cap() const { return read_ahead_ ? read_ahead_->limit() : plan_.cap; }
  const std::vector<Stage*>& inputs() const { return inputs_; }
  const std::vector<Element>& elements() const { return elements_; }
  const StageCounters& counters() const { return counters_; }
  int64_t task_bytes() const { return cost_.task_bytes(); }
  // Bytes of its next task, where it is idle; 0 where it is not, and -1 where nothing tells.
  int64_t need_while_idle() const {
    const bool busy = running_.load(std::memory_order_relaxed) > 0 || output_.queued() > 0;
    return busy ? 0 : cost_.next_bytes();
  }
  // `made_ns`: when the pipeline was made.
  StageReport report(uint64_t made_ns);
  // What runs now and since when, for a stalled pipeline; empty: nothing.
  std::vector<std::string> DescribeRunning();
  // Of a closed pipeline: frees what its operators hold, unless a task is at work.
  void DropAtRest();

 protected:
  virtual std::unique_ptr<Task> MakeTask() { return std::make_unique<Task>(this); }
  // Under the stage's lock. Takes numbers and inputs; returns what is lacking, or kNone when claimed.
  virtual BlockedReason ClaimLocked(Task& task, int most) = 0;
  // What the stage could claim: checked before the budget is asked. Under the stage's lock.
  virtual BlockedReason BlockedLocked() = 0;
  // Messages that a task could take now, up to `most`, where BlockedLocked says kNone.
  virtual int ClaimableLocked(int most) = 0;
  // Messages that one task may take for itself: half of the slots, where each message takes one.
  virtual int most_claimed() const { return std::max(1, plan_.window / 2); }
  virtual void RunTask(Task& task) = 0;
  // Under the stage's lock; nothing of it runs any more.
  virtual void DropOperators() { elements_.clear(); }
  // Bytes that the next message is expected to make a task take. Under the stage's lock.
  virtual int64_t ExpectedBytesLocked() const { return task_bytes(); }
  // Bytes that so many messages take besides, for rows that come after theirs; reserved with the messages, and kept.
  virtual int64_t AheadBytesLocked(int /*messages*/) const { return 0; }
  virtual void KeepAheadLocked(int64_t /*bytes*/) {}
  // The inputs' last epoch that goes into `epoch` of what the stage gives out.
  uint64_t LastInputEpoch(uint64_t epoch) const;
  // An epoch that a task may not begin yet, as user code would run for it.
  bool Gated(uint64_t epoch) const { return plan_.gated && epoch > asked_.load(std::memory_order_acquire); }
  // Downstream wants nothing any more of `epoch`.
  bool Finished(uint64_t epoch) const { return epoch < wanted_from_.load(std::memory_order_acquire); }
  // Returns what follows a row that failed: rows that the element has not seen, and the terminator. It must follow the
  // block, for rows may be given out in another order, and a consumer that does not want the error still counts on the
  // end-of-epoch marker.
  Message ApplyElement(const Element& element, Block& block) const;
  // Applies the elements from `first` on. Appends what comes of the message, in order: one message, and one more for
  // each row that failed.
  void ApplyElements(size_t first, Message message, std::vector<Message>& parts) const;
  // Puts task.parts under the message's number: to the task's outputs where it is one message. Empties them.
  void GiveParts(Task& task);
  void PushParts(uint64_t number, std::vector<Message>& parts);
  // Rows that one message shall hold, from what a row costs the stages up to the user.
  int GroupRows() const;
  // Puts the row in place of what the block holds, to pass by the operators below the cache that it was found in.
  bool TakeCached(uint64_t key, Block& block) const;
  // Pushes task.outputs under the numbers from task.first on.
  void Deliver(Task& task);
  void SignalInput(int input);

  const PlannedStage& plan_;
  RunControl* const control_;
  const std::vector<Stage*> inputs_;
  const std::vector<std::shared_ptr<RowCache>> caches_;
  std::vector<Element> elements_;
  MessageConnector output_;
  StageCounters counters_;
  std::mutex mutex_;
  std::atomic<int> running_{0};           // changed under the lock
  std::atomic<uint64_t> wanted_from_{0};  // downstream wants no epoch below it

 private:
  Task* ClaimOpenLocked();
  bool ClaimAdmittedLocked(Task& task, int most);
  // A task that nobody runs; made where there is none.
  Task& FreeTaskLocked();
  // What it throws aborts the pipeline.
  template <typename Body>
  void Guard(Body body);
  // Messages, so that a task is worth its hand-over but delays no other.
  int Grain() const;
  // As many messages as the budget has memory for.
  int AdmitLocked(int64_t message_bytes);
  // No stage between this one and the user could run instead, or has anything to give.
  bool LastResort();
  bool CouldRun();
  uint64_t CpuWeight() const;
  void PushOne(uint64_t number, Message message, bool more);
  void Narrow(int rows);
  void NoteBlockedLocked(BlockedReason reason);
  void NoteClaimLocked(Task& task);
  void NoteEndLocked(Task& task, int64_t peak, uint64_t elapsed_ns);
  void NoteReadsLocked(const Task& task, uint64_t start_ns, uint64_t elapsed_ns);

  Stage* consumer_ = nullptr;
  // Chooses the cap while it runs; null: it is the plan's. Under the lock.
  const std::unique_ptr<ReadAhead> read_ahead_;
  StageCost cost_;
  BlockedTimes blocked_;
  std::atomic<uint64_t> asked_{0};
  std::atomic<int> limit_;  // of the output connector
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<Task*> free_tasks_;  // as long as tasks_ may become
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STAGE_H_
