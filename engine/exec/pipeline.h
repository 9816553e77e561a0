// A running pipeline: the execution tree of one graph, its budget and its error domain.
// Thread contract: one user's thread calls Next, Fetch, Given, Ask and position; Close, report and DescribeStall may be
// called from any thread. Destruction joins what runs; no thread and no memory of it is left, but for batches that the
// user holds.
#ifndef HEADRACE_ENGINE_EXEC_PIPELINE_H_
#define HEADRACE_ENGINE_EXEC_PIPELINE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/clock.h"
#include "engine/cache/row_cache.h"
#include "engine/cache/run_caches.h"
#include "engine/exec/nesting.h"
#include "engine/exec/profiler.h"
#include "engine/exec/run_control.h"
#include "engine/exec/stage.h"
#include "engine/exec/stage_report.h"
#include "engine/exec/timed_mutex.h"
#include "engine/exec/worker_pool.h"
#include "engine/operator/row_warnings.h"
#include "engine/plan/physical_plan.h"
#include "engine/plan/plan_options.h"
#include "engine/plan/prepared_graph.h"
#include "ir/graph.pb.h"

namespace headrace {

struct PipelineOptions : PlanOptions {
  bool idle = false;                  // starts no thread and opens no cache: its stages are run by hand
  std::shared_ptr<CacheShelf> shelf;  // where caches leave their rows for the next pipeline; null: nowhere
  int64_t profile = 0;                // tasks of each thread to write down; 0: no profile is taken
  // Names of caches that keep nothing, as their files were found damaged.
  std::vector<std::string> caches_off;
  CachePointChoice choose_cache_point;  // of automatic caches; null: by what they measure
};

// A row of the result: usually a batch.
struct ResultRow {
  RowId id;
  std::vector<Tensor> columns;  // in the order of the schema
};

// Where the iteration stands, for states.
struct Position {
  uint64_t epoch = 0;
  uint64_t delivered = 0;  // rows of the result in this epoch
  std::vector<uint64_t> checkpoint;
  uint64_t skip_rows = 0;
};

struct Report {
  ShardAssignment shard;
  std::vector<CacheReport> caches;
  std::vector<WarningReport> warnings;  // of operators that can give any
  std::vector<StageReport> stages;      // the user's end first
  double wall_s = 0;                    // from the first Next to the end of the last
  double user_wait_s = 0;               // in Next
  uint64_t delivered = 0;
  int64_t held_bytes = 0, peak_bytes = 0, budget_bytes = 0;
  int workers = 0;
};

class Pipeline : private RunControl {
 public:
  // Runs the plan that the options give of the graph. Errors of MakePlan, and those that caches give when opened.
  static absl::StatusOr<std::unique_ptr<Pipeline>> Make(std::unique_ptr<PreparedGraph> prepared,
                                                        PipelineOptions options);
  // Prepares the graph, too, which is canonical, valid and optimized.
  static absl::StatusOr<std::unique_ptr<Pipeline>> Make(ir::proto::Graph graph, PipelineOptions options);
  ~Pipeline() override;

  enum class Outcome { kRow, kEpochEnd, kNothingYet };
  // The next row; waits at most `limit`, and for the light task that this thread may do meanwhile (pull: works so long,
  // and ends the task it is at). An error stays: every later call repeats it. kResource where memory or threads ran
  // out. After kEpochEnd the next epoch follows, until the last. The row counts in position() from Given() on, or from
  // the next call: it may be lost on its way to the user.
  absl::StatusOr<Outcome> Fetch(std::chrono::nanoseconds limit, ResultRow& row);
  void Given();
  // Both in one.
  absl::StatusOr<Outcome> Next(std::chrono::nanoseconds limit, ResultRow& row);
  // User code may run for epochs up to `epoch`.
  void Ask(uint64_t epoch);
  // How a call of Close left it.
  enum class Closed {
    kEntirely,    // nothing of it runs
    kFromWithin,  // it was told to end, and whoever closes or destroys it elsewhere waits
    kTooLate,     // it was told to end, and a function of the user's did not return in time
  };
  static constexpr std::chrono::hours kForever{24 * 365};
  // Tells it to end and waits until nothing runs, for functions of the user's at most `patience`. Does not wait within
  // its own tasks, nor within those of a pipeline that is ending itself, which may be waited for in turn. Unless
  // kEntirely, it must live on, and be destroyed by a thread that may wait.
  Closed Close(std::chrono::nanoseconds patience = kForever);
  // Tells it to end, and does not wait. Needs no memory.
  void Stop();
  // This thread runs one of its tasks, or one of a pipeline made within one: it must not be destroyed here.
  bool RunsHere() const { return nesting_.WorksHere(); }

  Position position() const;
  const PhysicalPlan& plan() const { return plan_; }
  const ir::Schema& schema() const { return plan_.root().output; }
  // Of the sources, as they were when the pipeline was made.
  const std::vector<Fingerprint>& fingerprints() const { return prepared_->fingerprints(); }
  // They are others now, or cannot be found any more: what runs has listed its files ahead of time.
  bool DataChanged() const { return prepared_->DataChanged(); }
  Report report();
  // What was written down, where options().profile asked for it. After Close.
  Profile profile() const;
  // Which stage works on what, and for how long; one line each.
  std::vector<std::string> DescribeStall();
  const PipelineOptions& options() const { return options_; }
  // The user's end first. An idle pipeline's may be run by hand.
  const std::vector<Stage*>& stages() const { return stage_order_; }

 private:
  class LaneClient;

  Pipeline(std::unique_ptr<PreparedGraph> prepared, PhysicalPlan plan, PipelineOptions options);
  void Signal(Stage* stage) override;
  void SignalAll() override;
  bool ResultReady() override;
  int64_t NeedsOfIdle(const Stage* besides) override;
  void MakeRoom(int64_t held) override;
  void Aborted() override;
  absl::Status OpenCaches();
  absl::Status Start();
  absl::Status StartThreads();
  // False: a function of the user's still runs at `until`.
  bool Join(WorkerPool::Clock::time_point until);
  bool RemoveClients(WorkerPool::Clock::time_point until);
  absl::Status EndError() const;
  absl::StatusOr<Outcome> FetchRow(std::chrono::nanoseconds limit, ResultRow& row);
  void WorkWhileWaiting(uint64_t until_ns);
  // The user's thread waits, or works, though there is something to take.
  bool UserIsLate() const;
  bool RunOneOf(const std::vector<Stage*>& stages);
  std::optional<Message> PopResult(bool& was_full);
  bool WaitForResult(std::chrono::nanoseconds limit);
  absl::Status TakeBlock(std::chrono::nanoseconds limit);
  absl::Status PullUntilReady(std::chrono::nanoseconds limit);
  Outcome GiveRow(ResultRow& row);

  const std::unique_ptr<PreparedGraph> prepared_;  // its operators go to the stages
  const PhysicalPlan plan_;
  const PipelineOptions options_;
  RunCaches caches_;
  std::vector<std::unique_ptr<Stage>> stages_;  // the user's end first
  std::vector<Stage*> stage_order_;             // the same, bare
  std::vector<std::unique_ptr<LaneClient>> clients_;
  std::vector<std::unique_ptr<WorkerPool>> own_pools_;  // of Python stages
  std::unique_ptr<Profiler> profiler_;
  std::vector<std::shared_ptr<const RowWarnings>> warnings_;
  Stage* root_ = nullptr;

  Nesting nesting_;
  TimedMutex close_mutex_;
  bool ended_ = false;  // under it
  // Held while the user's thread is inside, where a function of the user's that it pulls may come back.
  TimedMutex user_mutex_;
  // The user's side; its thread only.
  Message block_;
  std::atomic<bool> has_block_{false};  // the user has something to take, though the connector be empty
  int block_row_ = 0;
  bool row_out_ = false;    // fetched, and not yet given
  bool block_out_ = false;  // with the last row of its block, which had these checkpoint
  Checkpoint block_checkpoint_;
  Checkpoint last_checkpoint_;  // before block_
  uint64_t skip_rows_ = 0;
  uint64_t skip_since_checkpoint_ = 0;
  uint64_t epoch_ = 0;
  uint64_t delivered_ = 0;
  uint64_t mean_wait_ns_ = 1'000'000;  // for a block; sleeps until it proves short
  uint64_t works_from_ns_ = 0;         // while it waits, from then on
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
