// `PhysicalPlan` is what one run of a graph means, as data: operators with their properties and epochs, the stages that
// they share, the threads that run these, how rows are sharded, where the run begins. It can be printed (plan_text.h),
// compared and tested without a thread. It fixes every row and the order of rows. It also lists what is left open
// (which cache point is used, how many rows travel in a message, how many reads are outstanding), which the run chooses
// by measurement.
// Threads: a value, constant once MakePlan has returned it.
#ifndef HEADRACE_ENGINE_PLAN_PHYSICAL_PLAN_H_
#define HEADRACE_ENGINE_PLAN_PHYSICAL_PLAN_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/operator/epoch_range.h"
#include "engine/operator/operator_properties.h"
#include "engine/plan/planned_device.h"
#include "engine/plan/shard_assignment.h"
#include "engine/plan/stage_limits.h"
#include "ir/type.h"

namespace headrace {

// Which threads run a stage's tasks.
enum class Lane : uint8_t {
  kCpu,
  kIo,
  kPython,  // threads of its own
};

struct PlannedOperator {
  std::string name;  // "batch[3]"
  // The names of the user's other operators whose steps it has.
  std::vector<std::string> fused;
  std::string location;  // "train.py:12"
  std::string steps;     // of a map, for people
  OperatorProperties properties;
  ir::Schema output;
  std::vector<int> inputs;   // operators
  EpochRange epochs;         // as it numbers them
  uint64_t epoch_cycle = 0;  // its rows repeat after so many epochs; 0: never
  // A row that fails in it becomes a tombstone and is left out; false: it ends the run, as always where rows are
  // batches.
  bool skip_failed = false;
  // Of a source: it is asked for rows that pad by positions beyond its epoch's, as others make them.
  bool made_elsewhere = false;
  // The parts of the first checkpoint from which the operators below it, and it itself, begin.
  std::vector<uint64_t> input_counters;
  std::vector<uint64_t> counters;
  // Of a source: rows before those, by their numbers on this rank, that it reads first.
  std::vector<uint64_t> read_first;

  friend bool operator==(const PlannedOperator&, const PlannedOperator&) = default;
};

// Rows of a stage that are written straight into the batch that they will be part of.
struct PlannedBatchSlots {
  int batch = 0;             // the operator that joins them into batches
  std::vector<int> between;  // operators that pass them on, the nearest to the stage first
  int64_t skipped_rows = 0;  // that were used up before the run begins
  MemoryKind memory = MemoryKind::kPlain;
  friend bool operator==(const PlannedBatchSlots&, const PlannedBatchSlots&) = default;
};

// What the user fixed of a stage.
struct PlannedLimits {
  std::vector<std::string> of;  // the operators that fix something
  StageLimits fixed;            // of several numbers, the smallest
  StageLimits without;          // what would hold without them

  friend bool operator==(const PlannedLimits&, const PlannedLimits&) = default;
};

struct PlannedStage {
  static constexpr int kNoCap = 1 << 30;
  // Reads of a source at once, if the run chooses: from kFirstReads to kMostReads.
  static constexpr int kFirstReads = 8;
  static constexpr int kMostReads = 64;
  // Tasks at once of a source whose far reads need no thread each: each of them begins its share of the reads.
  static constexpr int kFarTasks = 4;
  enum class Kind : uint8_t { kIndexedSource, kStreamSource, kRow, kStream };
  // Whether it sees its rows one message at a time.
  static bool InOrder(Kind kind) { return kind == Kind::kStreamSource || kind == Kind::kStream; }

  Kind kind = Kind::kRow;
  // Of a source of far files: reads that may be outstanding at once, which its few tasks share; `cap` is of reads, not
  // of tasks. 0: each read is a task.
  int far_reads = 0;
  std::string name;            // "map[1] + filter[2]"
  std::vector<int> operators;  // in the order in which rows meet them, a source first
  std::vector<int> inputs;     // stages
  int depth = 0;               // stages between it and the user
  Lane lane = Lane::kCpu;
  int cap = kNoCap;              // tasks at once
  int most_cap = kNoCap;         // to which the user may raise it during the run
  std::optional<int> first_cap;  // left open: the run begins with so many, and goes up to `cap` if that helps
  int window = 1;                // queues of its connector
  PlannedLimits limits;
  bool narrows = false;  // left open: fewer of them are used if a message holds many rows
  int64_t byte_bound = std::numeric_limits<int64_t>::max();  // of its connector
  int64_t row_bytes = -1;                                    // of a row given out, by its schema; -1: not known
  bool gated = false;       // calls the user's Python, so it waits for Ask before each epoch
  int group = 1;            // rows in a message of a source; 0: left open, by the cost of a row
  int64_t group_bytes = 0;  // in such a message
  int64_t joined_rows = 0;  // that a batch above joins, where rows come to it one to one; 0: messages need not fit it
  std::vector<int> caches;  // operators whose caches may have a row, the nearest to the user first
  std::optional<PlannedBatchSlots> batch_slots;
  MemoryKind memory = MemoryKind::kPlain;  // of the buffers that its tasks make

  friend bool operator==(const PlannedStage&, const PlannedStage&) = default;
};

struct PlannedCache {
  enum class Kind : uint8_t {
    kByKey,      // any share of the rows is useful
    kInOrder,    // a whole epoch, or nothing
    kAutomatic,  // by key, at one of the operator's cache points, which is left open
  };
  enum class Notes : uint8_t {
    kNone,
    kGiven,  // those that came with the rows' files are read, and no others kept
    kKept,
  };

  Kind kind = Kind::kByKey;
  int op = 0;
  uint64_t rows = 0;   // that may be looked up by key
  std::string folder;  // empty: memory alone
  // For automatic caches:
  std::string declined;                 // why it keeps nothing; empty: it may keep rows
  std::string no_folder;                // why nothing goes to the folder that the user named
  bool light = false;                   // its rows are made as fast as found
  Notes notes = Notes::kNone;           // of its rows, where it keeps none of those
  std::vector<std::string> note_files;  // that came with the rows' files

  friend bool operator==(const PlannedCache&, const PlannedCache&) = default;
};

// What ranges of batches are in rows and in checkpoints, the same for all of a run.
struct PlannedRanges {
  uint64_t batch_rows = 1;         // of the source
  uint64_t rows = 0;               // that the source has of the rank in the epoch
  uint64_t batches = 0;            // rows of the result in the rank's epoch
  std::vector<int> batch_numbers;  // counters of a checkpoint

  friend bool operator==(const PlannedRanges&, const PlannedRanges&) = default;
};

struct PhysicalPlan {
  std::vector<PlannedOperator> operators;  // inputs before what they feed; the last gives the result
  std::vector<PlannedStage> stages;        // the user's end first
  std::vector<PlannedCache> caches;
  ShardAssignment shard;
  uint64_t seed = 0;
  EpochRange epochs;                    // of the result
  std::optional<PlannedRanges> ranges;  // not set: whole epochs are run
  bool epochs_cut = false;              // more were asked for than can be counted
  // Identifies the operators that have counters in a checkpoint, in order: a state fits only the same layout.
  uint32_t checkpoint_layout = 0;
  // Where the run begins.
  std::vector<uint64_t> checkpoint;
  uint64_t skip_rows = 0;
  uint64_t delivered = 0;
  uint64_t removed = 0;  // rows that failed and were left out before, in the first epoch
  // The most rows that may fail and be left out in an epoch; not set: the first one ends the run.
  std::optional<uint64_t> max_errors;
  // The operator that prevents another number of ranks from continuing from a state; -1: none.
  int position_inexact = -1;
  bool pull = false;
  int workers = 1;
  int64_t memory = 0;                   // budget in bytes
  std::optional<PlannedDevice> device;  // not set: the result stays in host memory

  const PlannedOperator& root() const { return operators.back(); }

  friend bool operator==(const PhysicalPlan&, const PhysicalPlan&) = default;
};

// Bytes that full connectors take, as far as schemas determine them.
struct ExpectedMemory {
  int64_t bytes = 0;
  bool all_known = true;
};
ExpectedMemory ExpectedMemoryOf(const PhysicalPlan& plan);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_PHYSICAL_PLAN_H_
