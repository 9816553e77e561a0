// `PlanOptions` is the input of the planner besides the graph: which part of the data is run, where the run begins, and
// numbers that the user fixed.
// Threads: a value.
#ifndef HEADRACE_ENGINE_PLAN_PLAN_OPTIONS_H_
#define HEADRACE_ENGINE_PLAN_PLAN_OPTIONS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/operator/batch_ranges.h"
#include "engine/operator/epoch_range.h"
#include "engine/operator/host.h"
#include "engine/plan/planned_device.h"
#include "engine/plan/shard_assignment.h"
#include "engine/plan/stage_limits.h"
#include "io/files/default_file_system.h"

namespace headrace {

class FarListings;

struct PlanOptions {
  std::optional<uint64_t> seed;  // not set: the graph's, else 0
  EpochRange epochs;
  ShardAssignment shard;
  bool pull = false;      // run on the user's thread
  int workers = 0;        // cap on the tasks of a stage; 0: the planner chooses
  int window = 0;         // queues of every connector; 0: the planner chooses
  int group = 0;          // rows in a message of a source that may group them; 0: the run chooses
  OperatorLimits limits;  // of the stages of single operators
  int64_t memory = int64_t{2} << 30;
  int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  HostBindings bindings;
  const FileSystem* files = DefaultFileSystem();  // that sources read from; outlives the run
  std::shared_ptr<FarListings> listings;          // that `files` answers from, if it does
  bool writes = true;                             // as RunOptions'
  // Where the run begins: the checkpoint of the row given last, and rows given out since that checkpoint was made.
  // Empty: the start.
  std::vector<uint64_t> checkpoint;
  uint64_t skip_rows = 0;
  // Of the first epoch, each as an epoch of the run; others are not run. Not with a checkpoint. Null: whole epochs.
  std::shared_ptr<BatchRanges> ranges;
  // By these the rows are made that are found by their numbers (rows_elsewhere.h). Null: by this run.
  std::shared_ptr<HostRows> rows_elsewhere;
  uint64_t delivered = 0;               // rows of the first epoch that were given out before
  uint64_t removed = 0;                 // and those that failed and were left out
  std::string cache_folder;             // of automatic caches; empty: memory alone
  std::optional<PlannedDevice> device;  // where batches are sent; not set: they stay in host memory
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_PLAN_OPTIONS_H_
