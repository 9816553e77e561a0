#include "engine/exec/row_stage.h"

#include <algorithm>
#include <utility>

namespace headrace {

RowStage::RowStage(const PlannedStage& plan, RunControl* control, Parts parts, const PlannedOperator& op,
                   std::unique_ptr<BatchSlots> batch_slots)
    : Stage(plan, control, std::move(parts)),
      splits_(op.properties.splits_messages),
      before_(op.input_counters.begin(), op.input_counters.end()),
      skip_parts_(splits_ ? op.counters[0] : 0),
      batch_slots_(std::move(batch_slots)) {}

BlockedReason RowStage::BlockedLocked() {
  if (output_.FreeSlots() == 0) return BlockedReason::kOutput;
  uint64_t epoch = 0;
  if (!inputs_[0]->output().Peek([&epoch](const Message& message) { epoch = message->epoch; }))
    return BlockedReason::kInput;
  return Gated(epoch) ? BlockedReason::kTurn : BlockedReason::kNone;
}

BlockedReason RowStage::ClaimLocked(Task& claimed, int most) {
  auto& task = static_cast<RowTask&>(claimed);
  most = std::min(plan_.gated ? 1 : most, output_.FreeSlots());
  bool was_full = false;
  const int popped = inputs_[0]->output().TryPopRun(most, task.inputs, was_full);
  if (was_full) SignalInput(0);
  if (popped == 0) return BlockedReason::kInput;
  task.count = popped;
  task.first = output_.TakePromised(popped);
  if (batch_slots_ != nullptr) {
    for (const Message& message : task.inputs) TakeBatchSlotsLocked(*message);
  }
  if (task.inputs[0]->rows() > 0) {
    task.worked.known = WorkedRows::Known::kRow;
    task.worked.id = task.inputs[0]->ids[0];
    task.worked.provenance = task.inputs[0]->provenances[0];
    for (const Message& message : task.inputs) task.worked.more += static_cast<uint64_t>(message->rows());
    --task.worked.more;
  }
  if (splits_) {
    for (const Message& message : task.inputs) {
      task.before.push_back(before_);
      before_ = message->end == End::kEpoch ? Checkpoint(message->checkpoint.size(), 0) : message->checkpoint;
    }
  }
  return BlockedReason::kNone;
}

void RowStage::DropOperators() {
  batch_slots_.reset();
  Stage::DropOperators();
}

int64_t RowStage::AheadBytesLocked(int messages) const {
  return batch_slots_ != nullptr ? batch_slots_->BytesBegunBy(messages) : 0;
}

void RowStage::KeepAheadLocked(int64_t bytes) { batch_slots_->Keep(bytes); }

// Counts rows in the order in which they will be batched.
void RowStage::TakeBatchSlotsLocked(Block& block) {
  for (int row = 0; row < block.rows(); ++row) {
    BatchSlots::Slot slot = batch_slots_->Next();
    if (block.rows() > 1) continue;
    block.batch_memory = std::move(slot.memory);
    block.batch_slot = slot.row;
  }
  if (block.end == End::kEpoch) batch_slots_->EndEpoch(block.epoch);
}

int RowStage::ClaimableLocked(int most) { return std::min(output_.FreeSlots(), inputs_[0]->output().ReadyRun(most)); }

void RowStage::Split(Message message, const Checkpoint& before, std::vector<Message>& parts) const {
  const Element& element = elements_.back();
  element.row->Split(std::move(message), before, parts);
  for (const Message& part : parts) {
    if (part->end == End::kError) AddOperator(part->error, *element.plan);
  }
}

void RowStage::RunMessage(Message message, RowTask& task, int index) {
  if (Finished(message->epoch) || control_->closed()) {
    message->DropRows();
    if (message->end == End::kError) message->end = End::kNone;
  }
  // Looks again: the row may have been added to a cache since it was read.
  if (!caches_.empty() && message->found_in() == nullptr && message->rows() == 1) {
    TakeCached(message->KeyAtSource(0), *message);
  }
  std::vector<Message>& parts = task.parts;
  if (splits_) {
    Split(std::move(message), task.before[index], parts);
    // Leaves out parts that were given out before a restart; the last part stays, because it ends the number.
    const uint64_t number = task.first + task.outputs.size();
    const size_t skip = number == 0 ? std::min<size_t>(skip_parts_, parts.size() - 1) : 0;
    if (number == 0 && skip_parts_ >= parts.size()) parts.back()->DropRows();
    parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(skip));
  } else {
    ApplyElements(0, std::move(message), parts);
  }
  GiveParts(task);
}

void RowStage::RunTask(Task& claimed) {
  auto& task = static_cast<RowTask&>(claimed);
  for (const Message& message : task.inputs) task.rows += static_cast<uint64_t>(message->rows());
  for (int i = 0; i < task.count; ++i) RunMessage(std::move(task.inputs[i]), task, i);
  Deliver(task);
}

}  // namespace headrace
