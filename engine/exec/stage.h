// A stage: neighbouring operators that run in one task, with the connector they fill. A task is (stage, numbers);
// it is claimed only when its input is there and its output has a place, so a task never blocks.
// Thread contract: Claim and Run from any worker; what a kind of stage allows at once (many tasks, one, or as many
// as `cap`) is decided in Claim, under the stage's lock. No lock is held while operators run.
#ifndef HEADRACE_ENGINE_EXEC_STAGE_H_
#define HEADRACE_ENGINE_EXEC_STAGE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/exec/connector.h"
#include "engine/exec/read_ahead.h"
#include "engine/exec/run_control.h"
#include "engine/operator/batch_memory.h"
#include "engine/operator/block.h"
#include "engine/operator/epoch_range.h"
#include "engine/operator/operator.h"
#include "engine/plan/shard_assignment.h"

namespace headrace {

using MessageConnector = Connector<Message>;

// Which threads run a stage's tasks.
enum class Lane {
  kCpu,
  kIo,
  kPython,  // threads of its own
};

// One operator within a stage.
struct Element {
  std::string name;      // "batch[3]"
  std::string location;  // "train.py:12"
  OperatorProperties properties;
  std::unique_ptr<RowOperator> row;
  std::unique_ptr<StreamOperator> stream;
  const RowCache* cache = nullptr;  // of a row operator that has one
};

struct StageCounters {
  std::atomic<uint64_t> rows{0};         // given out
  std::atomic<uint64_t> messages{0};     // given out
  std::atomic<uint64_t> bytes{0};        // given out
  std::atomic<uint64_t> found_rows{0};   // of rows, found in a cache
  std::atomic<uint64_t> found_bytes{0};  // of bytes
  std::atomic<uint64_t> read_ns{0};      // of busy_ns, to read the others; not known where there is no cache
  std::atomic<uint64_t> tasks{0};
  std::atomic<uint64_t> busy_ns{0};         // summed over workers
  std::atomic<uint64_t> cpu_ns{0};          // of them, where the stage reads files
  std::atomic<uint64_t> input_wait_ns{0};   // no task running, for want of input
  std::atomic<uint64_t> output_wait_ns{0};  // no task running, for want of a place
  std::atomic<uint64_t> memory_wait_ns{0};  // no task running, for want of memory
  std::atomic<uint64_t> widest{0};          // most tasks at once
};

// Why a stage has no task to give; kTurn: it runs already, has ended, or waits to be asked.
enum class BlockedReason { kNone, kInput, kOutput, kMemory, kTurn };

class Stage;

// Buffers of a task; a worker keeps one and uses it again.
struct Task {
  Stage* stage = nullptr;
  uint64_t first = 0;  // number in the output connector, where it is known when the task is claimed
  int count = 0;
  int64_t reserved = 0;  // bytes of the budget
  bool counted = false;  // among the pipeline's running tasks
  std::vector<Message> inputs;
  std::vector<Checkpoint> before;  // of inputs, for one-to-many operators
  std::vector<Message> parts;      // of one message, on their way to outputs
  std::vector<std::pair<Message, int64_t>> outputs;
  uint64_t rows = 0;  // read or received
  // Lets go of all that it has, given out or not.
  void Drop();
  // What one message holds of an indexed source.
  struct Ticket {
    uint64_t epoch;
    uint64_t position;  // in the unsharded epoch, of the first row
    int rows;           // as far apart as there are ranks
    uint64_t local;     // rows of this rank given out so far, these included
    uint64_t pass;      // over the epoch's positions; more than 0: padding
    bool mark;
  };
  std::vector<Ticket> tickets;
};

class Stage {
 public:
  struct Options {
    std::string name;
    Lane lane = Lane::kCpu;
    int cap = 1 << 30;                                // tasks at once
    std::shared_ptr<ReadAhead> read_ahead = nullptr;  // chooses the cap instead, while it runs; under the stage's lock
    int window = 64;                                  // queues of the output connector
    bool narrows = false;                             // uses fewer of them where a message holds many rows
    int64_t byte_bound = MessageConnector::kNoBound;
    int64_t row_bytes = -1;  // of a row given out, by its schema; -1: not known
    bool gated = false;      // calls the user's Python: not for epochs not yet asked for
    // Of a source, rows in a message; 0: by what a row costs. 1 where they may not travel together.
    int group = 1;
    int64_t group_bytes = 0;  // in a message, where rows are grouped by their cost
    // Caches by key in this stage and above it, the user's end first: to look in before a row is worked on.
    std::vector<std::shared_ptr<RowCache>> caches = {};
  };

  Stage(Options options, RunControl* control, std::vector<Stage*> inputs, std::vector<Element> elements);
  virtual ~Stage() = default;

  // Fills in `task` and returns true, or says what is lacking.
  bool Claim(Task& task);
  // Has a full task ready: worth waking a thread for.
  bool WorthWaking();
  // Its messages cost so little, as far as was seen, that whoever waits may make some himself. Reads do while the
  // system has the files in memory.
  bool light() const;
  // Runs the claimed task to its end and hands its output over. Where memory ends in its midst the pipeline is aborted.
  void Run(Task& task) noexcept;

  // From downstream: enough of all epochs up to `epoch` of what this stage gives out.
  void FinishEpoch(uint64_t epoch);
  // From downstream: user code may run for all epochs up to `epoch`.
  void Ask(uint64_t epoch);

  MessageConnector& output() { return output_; }
  const Options& options() const { return options_; }
  // Tasks at once, now.
  int cap() const { return options_.read_ahead ? options_.read_ahead->limit() : options_.cap; }
  // How its reads went; none: it reads no files at once.
  struct Reads {
    int most;
    uint64_t short_ns;
    std::vector<ReadAhead::Change> changes;
  };
  std::optional<Reads> reads();
  const std::vector<Stage*>& inputs() const { return inputs_; }
  const std::vector<Element>& elements() const { return elements_; }
  const StageCounters& counters() const { return counters_; }
  Stage* consumer() const { return consumer_; }
  void set_consumer(Stage* consumer) { consumer_ = consumer; }
  int64_t task_bytes() const { return task_bytes_.load(std::memory_order_relaxed); }
  // Bytes of its next task, where it is idle; 0 where it is not, and -1 where nothing tells.
  int64_t need_while_idle() const {
    const bool busy = running_.load(std::memory_order_relaxed) > 0 || output_.queued() > 0;
    return busy ? 0 : next_bytes_.load(std::memory_order_relaxed);
  }
  // What runs now and since when, for a stalled pipeline; empty: nothing.
  std::vector<std::string> DescribeRunning();
  virtual std::string kind() const = 0;
  // Of a closed pipeline: frees what its operators hold, unless a task is at work.
  void DropAtRest();
  // Bytes that its stream operators hold; from the stage's own task only.
  virtual size_t held_bytes() const { return 0; }

 protected:
  // Under the stage's lock. Takes numbers and inputs; returns what is lacking, or kNothing when claimed.
  virtual BlockedReason ClaimLocked(Task& task, int most) = 0;
  // What the stage could claim: checked before the budget is asked. Under the stage's lock.
  virtual BlockedReason BlockedLocked() = 0;
  // Messages that a task could take now, up to `most`, where BlockedLocked says kNothing.
  virtual int ClaimableLocked(int most) = 0;
  // Messages that one task may take for itself: half of the places, where each message takes one.
  virtual int most_claimed() const { return std::max(1, options_.window / 2); }
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
  bool Gated(uint64_t epoch) const { return options_.gated && epoch > asked_.load(std::memory_order_acquire); }
  // Downstream wants nothing any more of `epoch`.
  bool Finished(uint64_t epoch) const { return epoch < wanted_from_.load(std::memory_order_acquire); }
  // Rows at once, so that a task is worth its hand-over but holds up nobody.
  int Grain() const;
  // Returns what follows a row that failed: rows that the element has not seen, and the terminator. It must follow the
  // block, for rows may be given out in another order, and whoever does not want the error still counts on the mark.
  Message ApplyElement(const Element& element, Block& block) const;
  // Applies the elements from `first` on. Appends what comes of the message, in order: one message, and one more for
  // each row that failed.
  void ApplyElements(size_t first, Message message, std::vector<Message>& parts) const;
  // Puts task.parts under the message's number: to the task's outputs where it is one message. Empties them.
  void GiveParts(Task& task);
  void PushParts(uint64_t number, std::vector<Message>& parts);
  void Narrow(int rows);
  // Rows that one message shall hold, from what a row costs the stages up to the user.
  int GroupRows() const;
  // Puts the row in place of what the block holds, to pass by the operators below the cache that it was found in.
  bool TakeCached(uint64_t key, Block& block) const;
  // Pushes task.outputs under the numbers from task.first on.
  void Deliver(Task& task);
  void PushOne(uint64_t number, Message message, bool more);
  void SignalInput(int input);

  const Options options_;
  RunControl* const control_;
  std::vector<Stage*> inputs_;
  std::vector<Element> elements_;
  MessageConnector output_;
  Stage* consumer_ = nullptr;
  StageCounters counters_;
  std::mutex mutex_;
  std::atomic<int> running_{0};           // changed under the lock
  std::atomic<uint64_t> wanted_from_{0};  // downstream wants no epoch below it
  std::atomic<uint64_t> asked_{0};

 private:
  bool ClaimOpenLocked(Task& task);
  bool ClaimEnteredLocked(Task& task, int most);
  // What it throws aborts the pipeline.
  template <typename Body>
  void Guard(Body body);
  // Messages that may be claimed at once: as many as are worth a task, one, or none.
  int EnterLocked(int64_t bytes);
  bool EnterOneLocked(int64_t bytes);
  // Nothing between this stage and the user could run instead, or has anything to give.
  bool LastResort();
  bool CouldRun();
  uint64_t CpuWeight() const;
  void NoteBlockedLocked(BlockedReason blocked);
  void NoteClaimLocked(const Task& task);
  void NoteEndLocked(const Task& task, int64_t peak, uint64_t elapsed_ns);
  void NoteReadsLocked(const Task& task, uint64_t start_ns, uint64_t elapsed_ns);

  std::atomic<int64_t> task_bytes_{0};   // largest working set of one message
  std::atomic<int64_t> next_bytes_;      // of the next one; -1: nothing tells
  std::atomic<uint64_t> message_ns_{0};  // running mean of a message's cost
  std::atomic<uint64_t> row_ns_{0};      // of a row's
  std::atomic<int64_t> row_bytes_{0};    // of a row given out, the largest seen
  std::atomic<int> limit_;               // of the output connector
  BlockedReason blocked_ = BlockedReason::kNone;
  uint64_t blocked_since_ = 0;
  struct Running {
    const Task* task;
    uint64_t since_ns;
    enum { kNothing, kRow, kPosition } known;
    RowId id;  // of its first row; the key of a source's is the position
    Provenance provenance;
    size_t more;  // rows after it
  };
  std::vector<Running> running_tasks_;
};

class IndexedSourceStage : public Stage {
 public:
  struct Place {
    std::string name;
    std::string location;
    uint64_t epoch_cycle = 0;  // as OpArguments'
  };
  // `local`: rows of this rank given out already in the first epoch.
  IndexedSourceStage(Options options, RunControl* control, std::vector<Element> elements,
                     std::unique_ptr<IndexedSource> source, Place place, ShardAssignment shard, EpochRange epochs,
                     uint64_t local);
  std::string kind() const override { return "indexed source"; }

 protected:
  void DropOperators() override;
  BlockedReason BlockedLocked() override;
  BlockedReason ClaimLocked(Task& task, int most) override;
  int ClaimableLocked(int most) override;
  void RunTask(Task& task) override;

 private:
  bool NextTicketLocked(int most_rows, Task::Ticket& ticket);
  Message Read(const Task::Ticket& ticket);
  void ReadRows(const Task::Ticket& ticket, Block& block) const;
  bool FindRow(const Task::Ticket& ticket, Block& block) const;

  std::unique_ptr<IndexedSource> source_;
  const Place place_;
  const ShardAssignment shard_;
  const uint64_t size_;
  const uint64_t last_epoch_;
  uint64_t epoch_;
  uint64_t local_;
  uint64_t base_;
  uint64_t epoch_rows_;
  bool exhausted_ = false;
};

class StreamSourceStage : public Stage {
 public:
  StreamSourceStage(Options options, RunControl* control, std::vector<Element> elements,
                    std::unique_ptr<StreamSource> source, std::string source_name, std::string location,
                    uint64_t epoch_cycle, ShardAssignment shard, EpochRange epochs, std::vector<uint64_t> words);
  std::string kind() const override { return "stream source"; }

 protected:
  BlockedReason BlockedLocked() override;
  BlockedReason ClaimLocked(Task& task, int most) override;
  int ClaimableLocked(int most) override;
  void RunTask(Task& task) override;

 private:
  Message NextMessage(int rows);
  void EndEpoch(uint64_t epoch);
  bool Mine(uint64_t position) const;

  const std::unique_ptr<StreamSource> source_;
  const std::string source_name_;
  const std::string location_;
  const uint64_t epoch_cycle_;
  const ShardAssignment shard_;
  const uint64_t last_epoch_;
  uint64_t epoch_;
  std::vector<uint64_t> words_;
  uint64_t base_;
  bool started_ = false;
  bool at_end_ = false;  // of this epoch, or it failed: its mark comes next
  bool exhausted_ = false;
};

class RowStage : public Stage {
 public:
  // `skip_parts`: parts of the first message that were given out already.
  RowStage(Options options, RunControl* control, Stage* input, std::vector<Element> elements, Checkpoint before,
           uint64_t skip_parts);
  std::string kind() const override { return "row"; }
  // Its rows go straight into a batch, one for one.
  void set_batch_slots(std::unique_ptr<BatchSlots> slots) { batch_slots_ = std::move(slots); }

 protected:
  void DropOperators() override;
  BlockedReason BlockedLocked() override;
  BlockedReason ClaimLocked(Task& task, int most) override;
  int ClaimableLocked(int most) override;
  int64_t AheadBytesLocked(int messages) const override;
  void KeepAheadLocked(int64_t bytes) override;
  void RunTask(Task& task) override;

 private:
  void RunMessage(Message message, Task& task, int index);
  void Split(Message message, const Checkpoint& before, std::vector<Message>& parts) const;
  bool one_to_many_;
  void TakeBatchSlotsLocked(Block& block);
  Checkpoint before_;  // of the next message; under the stage's lock
  uint64_t skip_parts_;
  std::unique_ptr<BatchSlots> batch_slots_;  // under the stage's lock; null: none
};

class StreamStage : public Stage {
 public:
  StreamStage(Options options, RunControl* control, std::vector<Stage*> inputs, std::vector<Element> elements);
  std::string kind() const override { return "stream"; }
  size_t held_bytes() const override;

 protected:
  BlockedReason BlockedLocked() override;
  BlockedReason ClaimLocked(Task& task, int most) override;
  int ClaimableLocked(int most) override;
  int64_t ExpectedBytesLocked() const override;
  // It takes places for what comes of messages, while it runs.
  int most_claimed() const override { return std::numeric_limits<int>::max(); }
  void RunTask(Task& task) override;
  void DropOperators() override;

 private:
  class ElementOutbox;
  void Feed(size_t element, int input, Message message);
  int WantedInput() const;
  bool Receive(int wanted, int most);
  bool Step(Task& task, int most);
  void Flush(Task& task);
  int ReadyCount() const { return static_cast<int>(ready_.size() - ready_pushed_); }
  int ReceivedCount() const { return static_cast<int>(received_.size() - received_used_); }
  int OwingElement() const;
  void FinishBelow(size_t element, int input, uint64_t epoch);
  void TakeFinish();
  void CheckHeld();

  std::vector<Message> received_;  // popped in one run, to be handled one by one
  size_t received_used_ = 0;
  std::vector<Message> ready_;  // given out by the last element, not yet pushed
  size_t ready_pushed_ = 0;
  std::vector<uint64_t> wants_from_;  // for each element and input: the first epoch it wants, in the input's count
  std::vector<uint64_t> fed_epochs_;  // for each element: of the message it was given last
  uint64_t finish_seen_ = 0;          // of wanted_from_
  bool over_budget_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STAGE_H_
