// `StageCap` decides how many tasks of a stage may run at once: as many as planned, as ReadAhead chooses while files
// are read, or as the user sets during the run. Use it for the limit, and for what the stage's report says of it.
// Threads: now() from any thread, the rest under the stage's lock.
#ifndef HEADRACE_ENGINE_EXEC_STAGE_CAP_H_
#define HEADRACE_ENGINE_EXEC_STAGE_CAP_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/exec/read_ahead.h"
#include "engine/exec/stage_report.h"
#include "engine/plan/physical_plan.h"

namespace headrace {

class StageCap {
 public:
  // `plan` must outlive this.
  explicit StageCap(const PlannedStage& plan);

  int now() const {
    if (const int set = set_.load(std::memory_order_relaxed); set > 0) return set;
    return read_ahead_ ? read_ahead_->limit() : plan_.cap;
  }
  // Fixes it, up to the plan's `most_cap`; 0: as planned again.
  void Set(int tasks);
  // A task ended that has read so many messages, whose reads took `elapsed_ns` together. `queued`: messages in the
  // output connector, which takes `window`. Does nothing where the plan's cap holds.
  void NoteReads(uint64_t now_ns, uint64_t elapsed_ns, int messages, int queued, int window);
  // Sets what the report says about the cap. `made_ns`: when the pipeline was made.
  void Fill(StageReport& report, uint64_t made_ns) const;

 private:
  const PlannedStage& plan_;
  // Chooses the cap during the run; null: the plan's cap holds.
  const std::unique_ptr<ReadAhead> read_ahead_;
  std::atomic<int> set_{0};  // 0: not set
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STAGE_CAP_H_
