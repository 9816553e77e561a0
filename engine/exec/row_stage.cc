#include "engine/exec/row_stage.h"

#include <algorithm>
#include <utility>

#include "core/clock.h"

namespace headrace {
namespace {

// Target time of a task whose rows go to another process in one exchange, which costs some 30 µs.
constexpr uint64_t kRunTaskNs = 1'000'000;
// Of the rows that go in one exchange. Of larger ones a task takes one: the exchange is a small part of what they cost.
constexpr size_t kRunBytes = size_t{256} << 10;

const RunOperator* RunOperatorOf(absl::Span<const Element> elements) {
  if (elements.size() != 1) return nullptr;
  const auto* const run = dynamic_cast<const RunOperator*>(elements[0].row.get());
  return run != nullptr && run->takes_runs() ? run : nullptr;
}

// As many messages like this one as go in one exchange.
int MessagesInRun(const Block& block) {
  size_t bytes = 1;
  for (const BlockColumn& column : block.columns) bytes += column.rows() > 0 ? column.row(0).bytes() : 0;
  return std::max(1, static_cast<int>(kRunBytes / bytes));
}

}  // namespace

RowStage::RowStage(const PlannedStage& plan, RunControl* control, Parts parts, const PlannedOperator& op,
                   std::unique_ptr<BatchSlots> batch_slots)
    : Stage(plan, control, std::move(parts)),
      splits_(op.properties.splits_messages),
      run_(splits_ ? nullptr : RunOperatorOf(elements_)),
      before_(op.input_counters.begin(), op.input_counters.end()),
      given_(splits_ ? op.counters[0] : 0),
      batch_slots_(std::move(batch_slots)) {
  if (splits_) before_.push_back(0);
}

BlockedReason RowStage::BlockedLocked() {
  if (output_.FreeSlots() == 0) return BlockedReason::kOutput;
  uint64_t epoch = 0;
  if (!inputs_[0]->output().Peek([&epoch](const Message& message) { epoch = message->epoch; }))
    return BlockedReason::kInput;
  return Gated(epoch) ? BlockedReason::kTurn : BlockedReason::kNone;
}

BlockedReason RowStage::ClaimLocked(Task& claimed, int most) {
  auto& task = static_cast<RowTask&>(claimed);
  most = std::min(most, output_.FreeSlots());
  if (run_ != nullptr && most > 1) {
    inputs_[0]->output().Peek([&most](const Message& message) { most = std::min(most, MessagesInRun(*message)); });
  }
  bool was_full = false;
  // User code may not be allowed to run for the next epoch yet.
  const auto last = [this](const Message& message) { return plan_.gated && message->end == End::kEpoch; };
  const int popped = inputs_[0]->output().TryPopRun(most, task.inputs, was_full, last);
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
    for (const Message& message : task.inputs) NoteSplitLocked(*message, task);
  }
  return BlockedReason::kNone;
}

// Each row of a message that continues becomes one part.
void RowStage::NoteSplitLocked(const Block& block, RowTask& task) {
  const auto rows = static_cast<uint64_t>(block.rows());
  const uint64_t given = block.continues ? std::min(given_, rows) : given_;
  task.before.push_back(before_);
  task.given.push_back(given);
  given_ = block.continues ? given_ - given : 0;
  if (block.continues) {
    before_.back() += rows;
    return;
  }
  before_ = block.end == End::kEpoch ? Checkpoint(block.checkpoint.size(), 0) : block.checkpoint;
  before_.push_back(0);
}

void RowStage::DropOperators() {
  batch_slots_.reset();
  Stage::DropOperators();
}

int64_t RowStage::AheadBytesLocked(int messages) const {
  return batch_slots_ != nullptr ? batch_slots_->BytesBegunBy(messages) : 0;
}

void RowStage::KeepAheadLocked(int64_t bytes) { batch_slots_->Keep(bytes); }

// Counts rows in the order in which they will be batched. A tombstone has no slot, because the next row takes its
// place.
void RowStage::TakeBatchSlotsLocked(Block& block) {
  for (int row = 0; row < block.rows() && !block.tombstone(); ++row) {
    BatchSlots::Slot slot = batch_slots_->Next();
    if (block.rows() > 1) continue;
    block.batch_memory = std::move(slot.memory);
    block.batch_slot = slot.row;
  }
  if (block.end == End::kEpoch) batch_slots_->EndEpoch(block.epoch);
}

// In a stage of runs each of the tasks at once finds slots.
int RowStage::most_claimed() const {
  return run_ == nullptr ? Stage::most_claimed() : std::max(1, plan_.window / (cap() + 1));
}

uint64_t RowStage::task_ns() const { return run_ == nullptr ? Stage::task_ns() : kRunTaskNs; }

int RowStage::ClaimableLocked(int most) { return std::min(output_.FreeSlots(), inputs_[0]->output().ReadyRun(most)); }

// A row that fails before or in the operator is one part.
void RowStage::Split(Message message, Checkpoint before, std::vector<Message>& parts) const {
  const Element& element = elements_.back();
  const size_t first = parts.size();
  if (message->tombstone()) {
    ++before.back();
    message->checkpoint = std::move(before);
    message->continues = false;
    parts.push_back(std::move(message));
    return;
  }
  Block removed;
  removed.TakeRemovedOf(*message);
  element.row->Split(std::move(message), before, parts);
  parts[first]->TakeRemovedOf(removed);
  Block& last = *parts.back();
  if (last.end != End::kError) return;
  AddOperator(last.error, *element.plan);
  Message rest = std::move(last.rest);
  if (!SkipsFailed(*element.plan, last)) {
    // After the failed row only the end of the epoch counts.
    if (rest && rest->end == End::kEpoch) {
      rest->checkpoint.push_back(0);
      parts.push_back(MakeEndOfEpoch(rest->epoch, rest->checkpoint));
    }
    return;
  }
  before.back() += parts.size() - first;
  Message tombstone = last.TakeTombstone(false);
  tombstone->checkpoint = before;
  tombstone->continues = false;
  tombstone->TakeRemovedOf(last);
  parts.back() = std::move(tombstone);
  if (rest) Split(std::move(rest), std::move(before), parts);
}

void RowStage::BeginMessage(Block& block) const {
  if (Finished(block.epoch) || control_->closed()) {
    block.Drop();
  }
  // Looks again: the row may have been added to a cache since it was read.
  if (!caches_.empty() && block.found_in() == nullptr && block.rows() == 1 && !block.tombstone()) {
    TakeCached(block.KeyAtSource(0), block);
  }
}

void RowStage::RunMessage(Message message, RowTask& task, int index) {
  BeginMessage(*message);
  std::vector<Message>& parts = task.parts;
  if (splits_) {
    Split(std::move(message), std::move(task.before[index]), parts);
    // Leaves out parts that were given out before a restart; the last part stays, because it ends the number.
    const size_t given = task.given[index];
    if (given >= parts.size()) parts.back()->Drop();
    parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(std::min(given, parts.size() - 1)));
  } else {
    ApplyElements(elements_, 0, std::move(message), parts);
  }
  GiveParts(task);
}

bool RowStage::GoesAlone(const Block& block) const {
  // One that was dropped still says where it was found.
  if (block.rows() != 1) return block.rows() > 1;
  return block.found_in() != nullptr && block.found_in() == elements_[0].cache;
}

void RowStage::GiveRun(RowTask& task, size_t end, uint64_t row_ns) {
  for (; task.given_out < end; ++task.given_out) {
    Message message = std::move(task.inputs[task.given_out]);
    if (task.given_run == task.run.size() || task.run[task.given_run] != task.given_out) {
      ApplyElements(elements_, 0, std::move(message), task.parts);
    } else {
      ++task.given_run;
      if (message->cache_trail != nullptr) message->cache_trail->made_ns += row_ns;
      Message rest = TakeFailed(elements_[0], *message);
      ApplyRemaining(elements_, 1, std::move(message), std::move(rest), task.parts);
    }
    GiveParts(task);
  }
  if (task.given_run < task.run.size()) NoteWorked(task, *task.inputs[task.run[task.given_run]]);
  Deliver(task);
}

void RowStage::ApplyRun(RowTask& task, size_t end) {
  std::vector<Block*> blocks;
  task.run.clear();
  task.given_run = 0;
  for (size_t i = task.given_out; i < end; ++i) {
    Block& block = *task.inputs[i];
    if (block.rows() == 0 || block.tombstone() || block.found_in() != nullptr) continue;
    task.run.push_back(i);
    blocks.push_back(&block);
  }
  if (!blocks.empty()) {
    // What is no part of the run waits for none of its later rows.
    GiveRun(task, task.run[0], 0);
    const uint64_t start = NowNs();
    run_->ApplyRun(blocks, [&](size_t done) {
      GiveRun(task, done < task.run.size() ? task.run[done] : end, (NowNs() - start) / done);
    });
  }
  GiveRun(task, end, 0);
}

void RowStage::RunTogether(RowTask& task) {
  for (const Message& message : task.inputs) BeginMessage(*message);
  while (task.given_out < task.inputs.size()) {
    size_t end = task.given_out;
    while (end < task.inputs.size() && !GoesAlone(*task.inputs[end])) ++end;
    ApplyRun(task, end);
    if (end == task.inputs.size()) return;
    NoteWorked(task, *task.inputs[end]);
    GiveRun(task, end + 1, 0);
  }
}

void RowStage::RunTask(Task& claimed) {
  auto& task = static_cast<RowTask&>(claimed);
  for (const Message& message : task.inputs) task.rows += static_cast<uint64_t>(message->rows());
  if (run_ != nullptr && task.count > 1) {
    RunTogether(task);
    return;
  }
  for (int i = 0; i < task.count; ++i) {
    RunMessage(std::move(task.inputs[i]), task, i);
    // A user function may wait until its results so far have reached the user.
    if (plan_.gated) Deliver(task);
  }
  Deliver(task);
}

}  // namespace headrace
