// `Pipeline` is a running pipeline: the execution tree of one graph, its budget and its error domain.
// Threads: one thread, the user's or that of a device's queue, calls Next, Fetch, Given, Ask and position; any thread
// may call SetWorkers, Close, report and DescribeStall. The destructor waits until nothing runs; it leaves no thread
// and no memory of the pipeline, except batches that the user holds.
#ifndef HEADRACE_ENGINE_EXEC_PIPELINE_H_
#define HEADRACE_ENGINE_EXEC_PIPELINE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/clock.h"
#include "core/work_counts.h"
#include "engine/cache/row_cache.h"
#include "engine/cache/run_caches.h"
#include "engine/exec/device_report.h"
#include "engine/exec/nesting.h"
#include "engine/exec/profiler.h"
#include "engine/exec/run_control.h"
#include "engine/exec/skipped_rows.h"
#include "engine/exec/stage.h"
#include "engine/exec/stage_report.h"
#include "engine/exec/store_use.h"
#include "engine/exec/timed_mutex.h"
#include "engine/exec/worker_pool.h"
#include "engine/operator/row_warnings.h"
#include "engine/plan/physical_plan.h"
#include "engine/plan/plan_options.h"
#include "engine/plan/prepared_graph.h"
#include "ir/messages.h"

namespace headrace {

struct PipelineOptions : PlanOptions {
  bool idle = false;                       // starts no thread and opens no cache: its stages are run by hand
  std::shared_ptr<const StoreUse> stores;  // what the run had far stores do; null: it is not reported
  std::shared_ptr<CacheShelf> shelf;       // keeps rows of caches for the next pipeline; null: none
  BufferPool* page_locked = nullptr;       // as RunControl's; needed if the plan's device is sent to from such memory
  int64_t profile = 0;                     // tasks of each thread to record; 0: no profile is taken
  // Names of caches that keep nothing, because their files are damaged.
  std::vector<std::string> caches_off;
  CachePointChoice choose_cache_point;  // of automatic caches; null: they choose by measurement
  std::string failed_rows_log;          // file that gets a line for each row left out; empty: none
};

// A row of the result: usually a batch.
struct ResultRow {
  RowId id;
  std::vector<Tensor> columns;  // in the order of the schema
};

// The position of the iteration, for states.
struct Position {
  uint64_t epoch = 0;
  uint64_t delivered = 0;  // rows of the result in this epoch
  std::vector<uint64_t> checkpoint;
  uint64_t skip_rows = 0;
  uint64_t removed = 0;  // rows that failed and were left out in this epoch, before the row delivered last
  uint64_t base = 0;     // rows of this epoch that all ranks had used before the run
};

// What the kernels of an operator counted (core/work_counts.h).
struct WorkReport {
  std::string name;  // "map[1]"
  std::vector<WorkCounts::Count> counts;
};

struct Report {
  ShardAssignment shard;
  std::vector<CacheReport> caches;
  std::vector<WarningReport> warnings;  // of operators that may warn
  std::vector<WorkReport> work;         // of operators whose kernels count
  std::optional<uint64_t> max_errors;   // as the plan's
  std::vector<WarningReport> skipped;   // rows left out because they failed, by operator
  std::vector<StageReport> stages;      // the user's end first
  std::vector<StoreReport> stores;      // far ones that the run used, by name
  std::optional<DeviceReport> device;   // that batches are sent to; its queue takes them from the first stage
  double wall_s = 0;                    // from the first Next to the end of the last
  double user_wait_s = 0;               // in Next
  uint64_t delivered = 0;
  std::optional<uint64_t> rows;  // in what was delivered, where those are batches: their rows; none: not counted
  int64_t held_bytes = 0, peak_bytes = 0, budget_bytes = 0;
  int workers = 0;
};

// The error of a run that was closed.
absl::Status IteratorClosed();

class Pipeline : private RunControl {
 public:
  // Plans the graph with the options, and starts the run. Errors: those of MakePlan, and those of opening caches.
  static absl::StatusOr<std::unique_ptr<Pipeline>> Make(std::unique_ptr<PreparedGraph> prepared,
                                                        PipelineOptions options);
  // Also prepares the graph, which is canonical, valid and optimized.
  static absl::StatusOr<std::unique_ptr<Pipeline>> Make(ir::proto::Graph graph, PipelineOptions options);
  ~Pipeline() override;

  enum class Outcome { kRow, kEpochEnd, kNothingYet };
  // Returns the next row. Waits at most `limit`, and until a light task that this thread runs meanwhile has ended
  // (pull: runs tasks for this long, and ends the current one). An error is permanent: every later call repeats it.
  // kResource: memory or threads ran out. After kEpochEnd the next epoch follows, until the last. position() counts the
  // row from Given() on, or from the next call, because the row may be lost on its way to the user.
  absl::StatusOr<Outcome> Fetch(std::chrono::nanoseconds limit, ResultRow& row);
  void Given();
  // Fetch and Given in one call.
  absl::StatusOr<Outcome> Next(std::chrono::nanoseconds limit, ResultRow& row);
  // Allows user code to run for epochs up to `epoch`.
  void Ask(uint64_t epoch);
  // The same from any thread, for ranges (PlanOptions::ranges) after the one that the user is in.
  void AskAhead(uint64_t epoch);
  // Fixes how many tasks of the operator's stages may run at once, for tasks that begin from now on; of an operator
  // with several stages, each takes as many as it can. `workers`: 1 or more. Errors: kGraph, with the names that there
  // are, if there is none of this name; kUnsupported if none of its stages may run so many; kClosed.
  absl::Status SetWorkers(std::string_view op, int workers);
  // Takes back what SetWorkers did.
  void ResetWorkers();
  // The result of Close.
  enum class Closed {
    kEntirely,    // nothing runs any more
    kFromWithin,  // told to end; a thread outside that closes or destroys it waits
    kTooLate,     // told to end, but a user function did not return in time
  };
  static constexpr std::chrono::hours kForever{24 * 365};
  // Tells the pipeline to end and waits until nothing runs, for user functions at most `patience`. Does not
  // wait within its own tasks, nor within those of another pipeline that is ending, because that one may be waited for
  // in turn. Unless the result is kEntirely, the pipeline must be kept, and destroyed by a thread that may wait.
  Closed Close(std::chrono::nanoseconds patience = kForever);
  // Tells the pipeline to end, without waiting. Needs no memory.
  void Stop();
  // Whether this thread runs one of its tasks, or a task of a pipeline made within one: if so, the pipeline must not be
  // destroyed here.
  bool RunsHere() const { return nesting_.WorksHere(); }

  Position position() const;
  const PhysicalPlan& plan() const { return plan_; }
  const ir::Schema& schema() const { return plan_.root().output; }
  // The fingerprints of the sources when the pipeline was made.
  const std::vector<Fingerprint>& fingerprints() const { return prepared_->fingerprints(); }
  // Whether they differ now or cannot be found any more. The pipeline listed its files in advance.
  bool DataChanged() const { return prepared_->DataChanged(); }
  Report report();
  // The profile, if options().profile asked for one. Call it after Close.
  Profile profile() const;
  // For the profile: the user's thread waited for rows of this run, outside Fetch. Not after Close.
  void LoopWaited(uint64_t start_ns, uint64_t end_ns);
  // What each stage works on, and for how long; one line each.
  std::vector<std::string> DescribeStall();
  const PipelineOptions& options() const { return options_; }
  // The user's end first. Those of an idle pipeline may be run by hand.
  const std::vector<Stage*>& stages() const { return stage_order_; }

 private:
  class LaneClient;

  Pipeline(std::unique_ptr<PreparedGraph> prepared, PhysicalPlan plan, PipelineOptions options);
  void Signal(Stage* stage) override;
  void SignalAll() override;
  bool ResultReady() override;
  int64_t NeedsOfIdle(const Stage* besides) override;
  std::unique_ptr<HostLock> LockHost() override;
  void MakeRoom(int64_t held) override;
  void Aborted() override;
  absl::Status OpenCaches();
  absl::Status Start();
  absl::Status StartThreads();
  std::vector<Stage*> StagesOf(std::string_view op) const;
  absl::Status UnknownOperator(std::string_view op) const;
  // False: a user function still runs at `until`.
  bool Join(WorkerPool::Clock::time_point until);
  bool RemoveClients(WorkerPool::Clock::time_point until);
  absl::Status EndError() const;
  absl::StatusOr<Outcome> FetchRow(std::chrono::nanoseconds limit, ResultRow& row);
  void WorkWhileWaiting(uint64_t until_ns);
  // Whether the user's thread still waits or works although a result is ready.
  bool UserIsLate() const;
  bool RunOneOf(const std::vector<Stage*>& stages);
  std::optional<Message> PopResult(bool& was_full);
  bool WaitForResult(std::chrono::nanoseconds limit);
  absl::Status TakeBlock(std::chrono::nanoseconds limit);
  absl::Status PullUntilReady(std::chrono::nanoseconds limit);
  Outcome GiveRow(ResultRow& row);
  // Leaves out what failed before the next row of the block.
  absl::Status LeaveOutFailed();
  absl::Status LeaveOut(const FailedRow& row);
  Outcome EndBlock();
  // Moves the position to the start of the range, once it is asked for.
  void EnterRange();
  void EndRange();
  absl::Status CheckEpochEnd();

  const std::unique_ptr<PreparedGraph> prepared_;  // its operators are moved to the stages
  const PhysicalPlan plan_;
  const PipelineOptions options_;
  RunCaches caches_;
  std::vector<std::unique_ptr<Stage>> stages_;  // the user's end first
  std::vector<Stage*> stage_order_;             // the same, as pointers
  std::vector<std::unique_ptr<LaneClient>> clients_;
  std::mutex pools_mutex_;                              // held while own_pools_ grow, or go when the run is over
  std::vector<std::unique_ptr<WorkerPool>> own_pools_;  // of Python stages
  std::unique_ptr<Profiler> profiler_;
  std::vector<std::shared_ptr<const RowWarnings>> warnings_;
  // By the names of their operators.
  std::vector<std::pair<std::string, std::shared_ptr<const WorkCounts>>> work_counts_;
  Stage* root_ = nullptr;

  Nesting nesting_;
  TimedMutex close_mutex_;
  bool ended_ = false;  // under close_mutex_
  // Held while the user's thread is inside. With pull, a user function may lock it again on that thread.
  TimedMutex user_mutex_;
  // Used by the user's thread only.
  Message block_;
  std::atomic<bool> has_block_{false};  // a result is ready even if the connector is empty
  int block_row_ = 0;
  bool row_out_ = false;    // fetched, but not yet given
  bool block_out_ = false;  // that row is the last of its block, which had block_checkpoint_
  Checkpoint block_checkpoint_;
  Checkpoint last_checkpoint_;  // of the block before block_
  uint64_t skip_rows_ = 0;
  uint64_t skip_since_checkpoint_ = 0;
  uint64_t epoch_ = 0;
  bool in_range_ = false;    // the position is within range epoch_
  bool past_epoch_ = false;  // the range ended with its epoch
  uint64_t delivered_ = 0;
  SkippedRows skipped_;
  uint64_t tombstones_ahead_ = 0;      // left out here since the row given last
  absl::Status last_tombstone_;        // left out here in this epoch
  uint64_t mean_wait_ns_ = 1'000'000;  // for a block; the thread sleeps until this proves short
  uint64_t works_from_ns_ = 0;         // when the waiting thread may run tasks again
  std::atomic<bool> waits_{false};
  absl::Status failed_;

  const uint64_t made_ns_ = NowNs();
  std::atomic<uint64_t> started_ns_{0};
  std::atomic<uint64_t> last_ns_{0};
  std::atomic<uint64_t> user_wait_ns_{0};
  std::atomic<uint64_t> delivered_total_{0};
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_PIPELINE_H_
