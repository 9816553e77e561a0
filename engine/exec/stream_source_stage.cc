#include "engine/exec/stream_source_stage.h"

#include <algorithm>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "core/text.h"
#include "engine/exec/group_size.h"

namespace headrace {
namespace {

// A message waits no longer than this for those after it to be made: twice what a task should take.
constexpr uint64_t kMostDelayNs = 400'000;

}  // namespace

StreamSourceStage::StreamSourceStage(const PlannedStage& plan, RunControl* control, Parts parts,
                                     const PlannedOperator& op, std::unique_ptr<StreamSource> source,
                                     const ShardAssignment& shard, EpochRange epochs)
    : Stage(plan, control, std::move(parts)),
      op_(op),
      source_(std::move(source)),
      shard_(shard),
      last_epoch_(epochs.last),
      epoch_(epochs.first),
      counters_of_source_(op.counters),
      base_(shard.base),
      exhausted_(epochs.first > epochs.last) {}

BlockedReason StreamSourceStage::BlockedLocked() {
  // Checks first whether a task runs, because only that task may touch the rest.
  if (running_ > 0 || exhausted_ || Gated(epoch_)) return BlockedReason::kTurn;
  return output_.FreeSlots() > 0 ? BlockedReason::kNone : BlockedReason::kOutput;
}

BlockedReason StreamSourceStage::ClaimLocked(Task& task, int most) {
  // Takes its numbers while it runs, because it cannot know how many rows there are.
  task.count = most;
  return BlockedReason::kNone;
}

int StreamSourceStage::ClaimableLocked(int /*most*/) { return output_.FreeSlots(); }

void StreamSourceStage::EndEpoch(uint64_t epoch) {
  exhausted_ = epoch >= last_epoch_;
  epoch_ = epoch + 1;
  counters_of_source_.assign(counters_of_source_.size(), 0);
  base_ = 0;
  given_ = 0;
  started_ = false;
  at_end_ = false;
}

RowShare StreamSourceStage::Share() const {
  // A source that shards itself gives only this rank's rows.
  if (op_.properties.shards_itself) return {};
  return {shard_.rank, shard_.world, base_};
}

// Whether the source can be asked for the row after one that failed and is skipped.
bool StreamSourceStage::GoesOn(const Block& block, const absl::Status& status) const {
  return op_.skip_failed && block.failed != nullptr && IsOfOneRow(status);
}

Message StreamSourceStage::NextMessage(int rows) {
  const auto checkpoint = [this] { return Checkpoint(counters_of_source_.begin(), counters_of_source_.end()); };
  const auto end = [&](uint64_t epoch) {
    Message marker = MakeEndOfEpoch(epoch, checkpoint());
    EndEpoch(epoch);
    return marker;
  };
  if (Finished(epoch_)) return end(wanted_from_.load(std::memory_order_acquire) - 1);
  auto block = std::make_unique<Block>();
  block->epoch = epoch_;
  absl::Status status;
  if (at_end_) return end(epoch_);
  if (!started_) status = source_->Start(RowEpochOf(epoch_, op_.epoch_cycle), counters_of_source_);
  started_ = true;
  bool ended = false;
  if (status.ok()) status = source_->ReadRows(rows, Share(), *block, absl::MakeSpan(counters_of_source_), ended);
  if (ended || control_->closed()) return end(epoch_);
  block->checkpoint = checkpoint();
  if (!status.ok()) {
    at_end_ = !GoesOn(*block, status);
    AddOperator(status, op_);
    AddErrorField(status, ErrorField::kRow, Cat("epoch ", epoch_, ", after ", counters_of_source_[0], " rows"));
    block->Fail(block->rows(), std::move(status));
  }
  return block;
}

// Whether what the task made goes downstream now: waking threads for each message of short rows costs more than the
// message, but none waits for a slow read, and the connector must see that messages grow.
bool StreamSourceStage::HandsOver(const Task& task, uint64_t start_ns) {
  if (plan_.gated || task.outputs.empty()) return true;
  const int64_t bytes = task.outputs.back().second;
  const bool grew = bytes > largest_made_;
  largest_made_ = std::max(largest_made_, bytes);
  return grew || NowNs() - start_ns > kMostDelayNs;
}

void StreamSourceStage::RunTask(Task& task) {
  const uint64_t start = NowNs();
  int rows = GroupRows();
  // The user's function may wait until the loop has seen a row, so no row waits for one of a later batch.
  if (plan_.gated && plan_.joined_rows > 0) rows = static_cast<int>(std::min<int64_t>(rows, plan_.joined_rows));
  int made = 0;
  for (; made < task.count && !exhausted_ && !control_->closed(); ++made) {
    // Checks again: a task of several rows may cross into an epoch that user code must not begin.
    if (made > 0 && (Gated(epoch_) || output_.FreeSlots() == 0)) break;
    Message block = NextMessage(EndAtBatch(rows, given_, plan_.joined_rows));
    task.rows += static_cast<uint64_t>(block->rows());
    given_ += static_cast<uint64_t>(block->rows());
    Message tombstone = SkipsFailed(op_, *block) ? block->TakeTombstone(false) : nullptr;
    if (!tombstone || block->rows() > 0) ApplyElements(elements_, 0, std::move(block), task.parts);
    if (tombstone) ApplyElements(elements_, 0, std::move(tombstone), task.parts);
    int taken = 0;
    const std::optional<uint64_t> number = output_.TryTake(1, taken);
    if (!number.has_value()) break;  // closed
    if (task.outputs.empty()) task.first = *number;
    GiveParts(task);
    if (HandsOver(task, start)) Deliver(task);
  }
  Deliver(task);
  task.count = std::max(1, made);
}

}  // namespace headrace
