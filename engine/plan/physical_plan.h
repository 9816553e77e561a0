// What one run of a graph means, as data: operators with their properties and epochs, the stages that share them, who
// runs them, how rows are sharded, where the run begins. It can be printed (plan_text.h), compared and tested without a
// thread. It fixes every row and their order. What it leaves open (which cache point is used, how many rows travel in a
// message, how many reads are outstanding) is listed in it; the run chooses by what it measures.
// Thread contract: a value, which nothing changes once MakePlan has returned it.
#ifndef HEADRACE_ENGINE_PLAN_PHYSICAL_PLAN_H_
#define HEADRACE_ENGINE_PLAN_PHYSICAL_PLAN_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/operator/epoch_range.h"
#include "engine/operator/operator_properties.h"
#include "engine/plan/shard_assignment.h"
#include "ir/type.h"

namespace headrace {

// Which threads run a stage's tasks.
enum class Lane : uint8_t {
  kCpu,
  kIo,
  kPython,  // threads of its own
};

struct PlannedOperator {
  std::string name;      // "batch[3]"
  std::string location;  // "train.py:12"
  OperatorProperties properties;
  ir::Schema output;
  std::vector<int> inputs;   // operators
  EpochRange epochs;         // in its own numbers
  uint64_t epoch_cycle = 0;  // its rows come again after so many epochs; 0: never
  // The part of the first checkpoint that it and the operators below it begin with.
  std::vector<uint64_t> input_counters;
  std::vector<uint64_t> counters;

  friend bool operator==(const PlannedOperator&, const PlannedOperator&) = default;
};

// Rows of a stage that are written straight into the batch that they will be part of.
struct PlannedBatchSlots {
  int batch = 0;             // the operator that joins them
  std::vector<int> between;  // operators that pass them on, the nearest to the stage first
  int64_t skipped_rows = 0;  // that were used before the run begins
  friend bool operator==(const PlannedBatchSlots&, const PlannedBatchSlots&) = default;
};

struct PlannedStage {
  static constexpr int kNoCap = 1 << 30;
  // Reads of a source at once, where the run chooses: from the first to the most.
  static constexpr int kFirstReads = 8;
  static constexpr int kMostReads = 64;
  enum class Kind : uint8_t { kIndexedSource, kStreamSource, kRow, kStream };

  Kind kind = Kind::kRow;
  std::string name;            // "map[1] + filter[2]"
  std::vector<int> operators;  // in the order in which rows meet them, a source first
  std::vector<int> inputs;     // stages
  int depth = 0;               // stages between it and the user
  Lane lane = Lane::kCpu;
  int cap = kNoCap;              // tasks at once
  std::optional<int> first_cap;  // left open: the run begins with so many, and goes up to `cap` where that helps
  int window = 1;                // queues of its connector
  bool narrows = false;          // left open: fewer of them are used where a message holds many rows
  int64_t byte_bound = std::numeric_limits<int64_t>::max();  // of its connector
  int64_t row_bytes = -1;                                    // of a row given out, by its schema; -1: not known
  bool gated = false;       // calls the user's Python: not for an epoch that has not been asked for
  int group = 1;            // rows in a message of a source; 0, left open: by what a row costs
  int64_t group_bytes = 0;  // in such a message
  std::vector<int> caches;  // operators that may have a row already, the nearest to the user first
  std::optional<PlannedBatchSlots> batch_slots;

  friend bool operator==(const PlannedStage&, const PlannedStage&) = default;
};

struct PlannedCache {
  enum class Kind : uint8_t {
    kByKey,      // any share of the rows is of use
    kInOrder,    // a whole epoch, or nothing
    kAutomatic,  // by key, at one of the operator's cache points, which is left open
  };

  Kind kind = Kind::kByKey;
  int op = 0;
  std::string content;  // names the rows: two caches that differ in any row have two names
  uint64_t rows = 0;    // that may be asked for by key
  std::string folder;   // empty: memory alone
  // Of an automatic cache.
  std::string declined;   // why it keeps nothing; empty: it may
  std::string no_folder;  // why nothing goes to the folder that the user named
  bool light = false;     // its rows are made as fast as found

  friend bool operator==(const PlannedCache&, const PlannedCache&) = default;
};

struct PhysicalPlan {
  std::vector<PlannedOperator> operators;  // inputs before what they feed; the last gives the result
  std::vector<PlannedStage> stages;        // the user's end first
  std::vector<PlannedCache> caches;
  ShardAssignment shard;
  uint64_t seed = 0;
  EpochRange epochs;        // of the result
  bool epochs_cut = false;  // more were asked for than can be counted
  // Names the operators that have counters in a checkpoint, in their order: states fit only where it is the same.
  uint32_t checkpoint_layout = 0;
  // Where the run begins.
  std::vector<uint64_t> checkpoint;
  uint64_t skip_rows = 0;
  uint64_t delivered = 0;
  // The operator that forbids another number of ranks to go on from a state; -1: none.
  int position_inexact = -1;
  bool pull = false;
  int workers = 1;
  int64_t memory = 0;  // budget in bytes

  const PlannedOperator& root() const { return operators.back(); }

  friend bool operator==(const PhysicalPlan&, const PhysicalPlan&) = default;
};

// Bytes that full connectors take, as far as schemas tell.
struct ExpectedMemory {
  int64_t bytes = 0;
  bool all_known = true;
};
ExpectedMemory ExpectedMemoryOf(const PhysicalPlan& plan);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_PHYSICAL_PLAN_H_
