// `StreamSourceStage` reads rows of a stream source: one task at a time, in order.
// Threads: as Stage's.
#ifndef HEADRACE_ENGINE_EXEC_STREAM_SOURCE_STAGE_H_
#define HEADRACE_ENGINE_EXEC_STREAM_SOURCE_STAGE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exec/stage.h"
#include "engine/operator/epoch_range.h"
#include "engine/operator/operator.h"
#include "engine/plan/shard_assignment.h"

namespace headrace {

class StreamSourceStage : public Stage {
 public:
  // `op`: the source; it begins where its counters say.
  StreamSourceStage(const PlannedStage& plan, RunControl* control, Parts parts, const PlannedOperator& op,
                    std::unique_ptr<StreamSource> source, const ShardAssignment& shard, EpochRange epochs);

 protected:
  BlockedReason BlockedLocked() override;
  BlockedReason ClaimLocked(Task& task, int most) override;
  int ClaimableLocked(int most) override;
  void RunTask(Task& task) override;

 private:
  Message NextMessage(int rows);
  bool GoesOn(const Block& block, const absl::Status& status) const;
  void EndEpoch(uint64_t epoch);
  bool HandsOver(const Task& task, uint64_t start_ns);
  RowShare Share() const;

  const PlannedOperator& op_;
  const std::unique_ptr<StreamSource> source_;
  const ShardAssignment shard_;
  const uint64_t last_epoch_;
  uint64_t epoch_;
  std::vector<uint64_t> counters_of_source_;
  uint64_t base_;
  uint64_t given_ = 0;        // rows that did not fail, in this epoch
  int64_t largest_made_ = 0;  // bytes of a message
  bool started_ = false;
  bool at_end_ = false;  // it failed: the end-of-epoch marker comes next
  bool exhausted_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STREAM_SOURCE_STAGE_H_
