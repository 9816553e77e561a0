// `StageReport` is the report of a stage, during a run and after it.
// Threads: a value.
#ifndef HEADRACE_ENGINE_EXEC_STAGE_REPORT_H_
#define HEADRACE_ENGINE_EXEC_STAGE_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/physical_plan.h"

namespace headrace {

struct StageReport {
  std::string name;  // "map[1] + filter[2]"
  PlannedStage::Kind kind = PlannedStage::Kind::kRow;
  Lane lane = Lane::kCpu;
  int depth = 0;  // 0: next to the user
  uint64_t rows = 0, messages = 0, tasks = 0, widest = 0, bytes = 0;
  uint64_t found_rows = 0, found_bytes = 0;  // part of rows and bytes: found in a cache
  double read_s = 0;                         // part of busy_s: reads of the other rows; 0: not known, without a cache
  double busy_s = 0, input_wait_s = 0, output_wait_s = 0, memory_wait_s = 0;
  int window = 0;
  int queued = 0;
  int64_t queued_bytes = 0, largest_bytes = 0, task_bytes = 0;
  bool shards = false;  // rows are sharded here
  int cap = 0;          // tasks at once; 1: one after the other
  int set_cap = 0;      // as the user set it during the run; 0: not set
  PlannedLimits limits;
  // If files are read: what the cap may become during the run, and how long reads held up the stages above.
  int most_cap = 0;
  double reads_short_s = 0;
  double cpu_s = 0;  // part of busy_s on the CPU, if files are read
  struct CapChange {
    double at_s;        // after the pipeline was made
    int cap;            // from then on
    double per_second;  // rows a second before
  };
  std::vector<CapChange> caps;

  bool is_source() const {
    return kind == PlannedStage::Kind::kIndexedSource || kind == PlannedStage::Kind::kStreamSource;
  }
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STAGE_REPORT_H_
