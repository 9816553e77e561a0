// `Iteration` is one iteration over a data set, as front ends see it: it checks, optimizes and runs the user's graph,
// and takes and restores its state.
// Threads: as Pipeline's; StateAt also from a second thread.
#ifndef HEADRACE_ENGINE_EXEC_ITERATION_H_
#define HEADRACE_ENGINE_EXEC_ITERATION_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/exec/pipeline.h"
#include "engine/exec/run_identity.h"
#include "engine/operator/batch_ranges.h"
#include "ir/graph.pb.h"
#include "ir/passes.h"

namespace headrace {

class StorageTable;
class StoreUse;

// Takes steps out of the graph, before the optimizer, that the caller does with the rows. The columns keep their names.
using ReduceGraph = std::function<absl::StatusOr<ir::proto::Graph>(const ir::proto::Graph& graph)>;

struct IterateOptions {
  std::optional<uint64_t> seed;
  uint64_t epoch = 0;
  bool endless = false;  // continues with later epochs
  uint64_t rank = 0;
  uint64_t world = 1;
  std::optional<std::string> even;  // "off", "drop" or "pad"; not given: the state's, else "off"
  std::string state;                // empty: from the epoch's start, or from row `start`
  // Without a state: the row of the result (batch, usually) with which each rank begins its epoch.
  std::optional<uint64_t> start;
  // The row of the result before which the epoch ends. Not with a state, nor `ranges`.
  std::optional<uint64_t> stop;
  // The name among the bindings of rows of those that are made elsewhere, as PlanOptions' `rows_elsewhere`; empty:
  // none.
  std::string rows_elsewhere;
  bool ranges = false;  // runs the ranges of the epoch that AddRange gives, and nothing before
  bool optimize = true;
  std::vector<std::string> disabled_passes;
  bool pull = false;
  int workers = 0;
  int window = 0;
  int group = 0;
  OperatorLimits limits;  // as PlanOptions'
  int64_t memory = int64_t{2} << 30;
  int64_t profile = 0;                  // as PipelineOptions::profile
  std::string cache_folder;             // as PipelineOptions'
  std::vector<std::string> caches_off;  // as PipelineOptions'
  CachePointChoice choose_cache_point;  // as PipelineOptions'
  HostBindings bindings;
  const FileSystem* files = DefaultFileSystem();  // as PipelineOptions::files
  // How far stores are reached, over the settings of the thread that begins the run; null: `files` are as they are.
  std::shared_ptr<const StorageTable> storage;
  std::shared_ptr<FarListings> listings;   // of the data set, for all of its runs; null: of this run alone
  std::shared_ptr<const StoreUse> stores;  // as PipelineOptions'; Start makes it
  std::string failed_rows_log;             // as PipelineOptions'
  std::optional<PlannedDevice> device;     // as PipelineOptions'
  BufferPool* page_locked = nullptr;       // as PipelineOptions'
  ReduceGraph reduce;                      // null: all steps run here
  std::shared_ptr<CacheShelf> shelf;       // keeps rows of caches for the next iteration; null: none
};

class Iteration {
 public:
  // Errors: every mistake in the graph at once (kGraph), missing files (kNotFound), a state of another graph or of
  // changed files (kState), a start before which rows have to be made to know which come next (kState, with the
  // operator that is why), shards that the graph does not allow, a range of rows that cannot be found by their numbers
  // (kUnsupported, with the operator).
  static absl::StatusOr<std::unique_ptr<Iteration>> Start(const ir::proto::Graph& user_graph, IterateOptions options);

  // As Pipeline's. If an in-order cache is found damaged, continues in a new pipeline without it.
  absl::StatusOr<Pipeline::Outcome> Fetch(std::chrono::nanoseconds limit, ResultRow& row);
  void Given() { pipeline_->Given(); }
  void Ask(uint64_t epoch);
  // Adds a range to a run of `ranges`, which goes on to it after those before, and gives an end of epoch after each.
  // Returns the number of the epoch to Ask for once the range before has ended. From any thread.
  absl::StatusOr<uint64_t> AddRange(BatchRange range);
  // Rows of the result that the epoch has for this rank, where ranges are run.
  uint64_t batches() const { return pipeline()->plan().ranges.value_or(PlannedRanges()).batches; }
  // As Pipeline's; from any thread.
  absl::Status SetWorkers(const std::string& op, int workers);
  void ResetWorkers();
  Pipeline::Closed Close(std::chrono::nanoseconds patience);
  void Stop();
  bool RunsHere() const { return pipeline()->RunsHere(); }

  Position position() const { return pipeline()->position(); }
  // The position of the next row.
  uint64_t epoch() const { return position().epoch; }
  uint64_t delivered() const { return position().delivered; }
  // What a state says of the run besides its position.
  uint64_t seed() const { return pipeline()->plan().seed; }
  const std::string& even() const { return even_; }
  // The state after the row given last. kState if the pipeline cannot be restored.
  absl::StatusOr<std::string> State() const { return StateAt(position()); }
  // The same for an earlier position of this run.
  absl::StatusOr<std::string> StateAt(const Position& position) const;
  RunIdentity identity() const;
  // Whether an epoch waits for Ask, before the user's functions run for it.
  bool WaitsForAsk() const;
  // A copy, because Fetch may replace the pipeline meanwhile.
  ir::Schema schema() const { return pipeline()->schema(); }
  Report report() { return pipeline()->report(); }
  // The profile of a closed run, if the options asked for one.
  Profile profile() { return pipeline()->profile(); }
  void LoopWaited(uint64_t start_ns, uint64_t end_ns) { pipeline()->LoopWaited(start_ns, end_ns); }
  // Whether a new iteration would run differently: files were added, removed, renamed or have another size (as far as
  // it would see that), arrays hold other values, or a cache was found damaged here.
  bool Outdated() const { return without_cache_ || pipeline()->DataChanged(); }
  std::vector<std::string> DescribeStall() { return pipeline()->DescribeStall(); }

 private:
  Iteration() = default;

  std::shared_ptr<Pipeline> pipeline() const;
  absl::Status GoOnWithout(const std::string& cache);

  mutable std::mutex mutex_;
  // Guarded by mutex_. The user's thread, which alone changes pipeline_, reads that without the lock.
  std::shared_ptr<Pipeline> pipeline_;
  std::vector<std::shared_ptr<Pipeline>> left_;  // earlier ones, of which parts may still run
  bool closed_ = false;
  std::map<std::string, int> set_workers_;  // by SetWorkers
  std::atomic<bool> without_cache_{false};  // that was found damaged
  // The user's thread only.
  IterateOptions options_;
  uint64_t asked_ = 0;
  ir::proto::Graph user_graph_;  // canonical
  std::string even_;             // of this run
};

// The plan of an iteration, and the graph that it runs.
struct PlannedRun {
  ir::Optimized optimized;
  PhysicalPlan plan;
};
// Writes nothing. Errors as Start, except those of states and caches, which it does not open.
absl::StatusOr<PlannedRun> PlanRun(const ir::proto::Graph& user_graph, const IterateOptions& options);
// Rows of the result in one epoch, of the options' rank alone. Errors: those of the graph, and of sources that cannot
// be opened.
absl::StatusOr<Cardinality> CountRows(const ir::proto::Graph& user_graph, const IterateOptions& options);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_ITERATION_H_
