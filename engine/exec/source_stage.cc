#include <algorithm>

#include "core/clock.h"
#include "core/error.h"
#include "core/text.h"
#include "engine/exec/stage.h"

namespace headrace {
namespace {

// Tells the draws of a repeated row from those of the row it repeats.
void MarkPass(uint64_t pass, absl::Span<RowId> ids) {
  if (pass == 0) return;
  for (RowId& id : ids) {
    id.key = MixKey(id.key, pass);
    id.pad = true;
  }
}

}  // namespace

IndexedSourceStage::IndexedSourceStage(Options options, RunControl* control, std::vector<Element> elements,
                                       std::unique_ptr<IndexedSource> source, Place place, ShardAssignment shard,
                                       EpochRange epochs, uint64_t local)
    : Stage(std::move(options), control, {}, std::move(elements)),
      source_(std::move(source)),
      place_(std::move(place)),
      shard_(shard),
      size_(source_->size()),
      last_epoch_(epochs.last),
      epoch_(epochs.first),
      local_(local),
      base_(shard.base),
      epoch_rows_(shard.RowsOf(size_, shard.base)),
      exhausted_(epochs.first > epochs.last) {}

void IndexedSourceStage::DropOperators() {
  source_.reset();
  Stage::DropOperators();
}

BlockedReason IndexedSourceStage::BlockedLocked() {
  if (exhausted_) return BlockedReason::kTurn;
  return output_.FreeSlots() > 0 ? BlockedReason::kNone : BlockedReason::kOutput;
}

bool IndexedSourceStage::NextTicketLocked(int most_rows, Task::Ticket& ticket) {
  if (exhausted_) return false;
  const bool enough = Finished(epoch_);
  if (!enough && local_ < epoch_rows_) {
    const uint64_t position = base_ + shard_.rank + local_ * shard_.world;
    // Ends a message where the positions begin again.
    const uint64_t in_pass = (size_ - position % size_ - 1) / shard_.world + 1;
    const uint64_t rows = std::min({static_cast<uint64_t>(most_rows), epoch_rows_ - local_, in_pass});
    local_ += rows;
    ticket = {epoch_, position % size_, static_cast<int>(rows), local_, position / size_, false};
    return true;
  }
  // Ends every epoch that nobody wants with one mark.
  const uint64_t ended = enough ? wanted_from_.load(std::memory_order_acquire) - 1 : epoch_;
  ticket = {ended, 0, 0, local_, 0, true};
  if (ended >= last_epoch_) {
    exhausted_ = true;
    return true;
  }
  epoch_ = ended + 1;
  local_ = 0;
  base_ = 0;
  epoch_rows_ = shard_.RowsOf(size_, 0);
  return true;
}

BlockedReason IndexedSourceStage::ClaimLocked(Task& task, int most) {
  most = std::min(most, output_.FreeSlots());
  const int rows = GroupRows();
  Task::Ticket ticket;
  while (static_cast<int>(task.tickets.size()) < most && NextTicketLocked(rows, ticket)) task.tickets.push_back(ticket);
  if (task.tickets.empty()) return BlockedReason::kOutput;
  task.count = static_cast<int>(task.tickets.size());
  task.first = output_.TakePromised(task.count);
  return BlockedReason::kNone;
}

int IndexedSourceStage::ClaimableLocked(int /*most*/) { return output_.FreeSlots(); }

Message IndexedSourceStage::Read(const Task::Ticket& ticket) {
  if (ticket.mark) return MakeMark(ticket.epoch, {ticket.local});
  auto block = std::make_unique<Block>();
  block->epoch = ticket.epoch;
  block->checkpoint.push_back(ticket.local);
  if (Finished(ticket.epoch) || control_->closed()) return block;
  if (FindRow(ticket, *block)) return block;
  ReadRows(ticket, *block);
  if (block->timed) counters_.read_ns.fetch_add(block->made_ns, std::memory_order_relaxed);
  return block;
}

void IndexedSourceStage::ReadRows(const Task::Ticket& ticket, Block& block) const {
  block.timed = !options_.caches.empty();
  const uint64_t start = block.timed ? NowNs() : 0;
  const uint64_t epoch = RowEpochOf(ticket.epoch, place_.epoch_cycle);
  absl::Status status = ticket.rows == 1 ? source_->Read(epoch, ticket.position, block)
                                         : source_->ReadRows(epoch, ticket.position, shard_.world, ticket.rows, block);
  if (block.timed) block.made_ns = NowNs() - start;
  MarkPass(ticket.pass, absl::MakeSpan(block.ids));
  if (block.timed && block.rows() == 1) block.source_key = block.ids[0].key;
  if (status.ok()) return;
  const uint64_t failed = ticket.position + static_cast<uint64_t>(block.rows()) * shard_.world;
  AddErrorField(status, ErrorField::kOperator, place_.name);
  AddErrorField(status, ErrorField::kLocation, place_.location);
  AddErrorField(status, ErrorField::kRow, Cat("epoch ", ticket.epoch, ", position ", failed));
  block.Fail(block.rows(), std::move(status));
}

bool IndexedSourceStage::FindRow(const Task::Ticket& ticket, Block& block) const {
  if (options_.caches.empty() || ticket.rows != 1) return false;
  RowId id;
  Provenance provenance;
  source_->Identify(RowEpochOf(ticket.epoch, place_.epoch_cycle), ticket.position, id, provenance);
  MarkPass(ticket.pass, absl::MakeSpan(&id, 1));
  if (!TakeCached(id.key, block)) return false;
  block.ids.push_back(id);
  block.provenances.push_back(std::move(provenance));
  return true;
}

void IndexedSourceStage::RunTask(Task& task) {
  for (Task::Ticket ticket : task.tickets) {
    task.rows += static_cast<uint64_t>(ticket.rows);
    // Goes on behind a row that failed.
    while (true) {
      Message block = Read(ticket);
      const bool failed = block->end == End::kError;
      const int read = block->rows() + (failed ? 1 : 0);
      ApplyElements(0, std::move(block), task.parts);
      if (!failed || read >= ticket.rows) break;
      ticket.position += static_cast<uint64_t>(read) * shard_.world;
      ticket.rows -= read;
    }
    GiveParts(task);
  }
  Deliver(task);
}

StreamSourceStage::StreamSourceStage(Options options, RunControl* control, std::vector<Element> elements,
                                     std::unique_ptr<StreamSource> source, std::string source_name,
                                     std::string location, uint64_t epoch_cycle, ShardAssignment shard,
                                     EpochRange epochs, std::vector<uint64_t> words)
    : Stage(std::move(options), control, {}, std::move(elements)),
      source_(std::move(source)),
      source_name_(std::move(source_name)),
      location_(std::move(location)),
      epoch_cycle_(epoch_cycle),
      shard_(shard),
      last_epoch_(epochs.last),
      epoch_(epochs.first),
      words_(std::move(words)),
      base_(shard.base),
      exhausted_(epochs.first > epochs.last) {}

BlockedReason StreamSourceStage::BlockedLocked() {
  // Asks first whether a task runs, for it alone may touch the rest.
  if (running_ > 0 || exhausted_ || Gated(epoch_)) return BlockedReason::kTurn;
  return output_.FreeSlots() > 0 ? BlockedReason::kNone : BlockedReason::kOutput;
}

BlockedReason StreamSourceStage::ClaimLocked(Task& task, int most) {
  // Takes its numbers as it goes, for it cannot know how many rows there are.
  task.count = most;
  return BlockedReason::kNone;
}

int StreamSourceStage::ClaimableLocked(int /*most*/) { return output_.FreeSlots(); }

void StreamSourceStage::EndEpoch(uint64_t epoch) {
  exhausted_ = epoch >= last_epoch_;
  epoch_ = epoch + 1;
  words_.assign(words_.size(), 0);
  base_ = 0;
  started_ = false;
  at_end_ = false;
}

bool StreamSourceStage::Mine(uint64_t position) const {
  return position >= base_ && (position - base_) % shard_.world == shard_.rank;
}

Message StreamSourceStage::NextMessage(int rows) {
  const auto checkpoint = [this] { return Checkpoint(words_.begin(), words_.end()); };
  const auto end = [&](uint64_t epoch) {
    Message mark = MakeMark(epoch, checkpoint());
    EndEpoch(epoch);
    return mark;
  };
  if (Finished(epoch_)) return end(wanted_from_.load(std::memory_order_acquire) - 1);
  auto block = std::make_unique<Block>();
  block->epoch = epoch_;
  absl::Status status;
  if (at_end_) return end(epoch_);
  if (!started_) status = source_->Start(RowEpochOf(epoch_, epoch_cycle_), words_);
  started_ = true;
  bool ended = false;
  while (status.ok()) {
    const uint64_t position = words_[0];
    const int before = block->rows();
    status = source_->Next(*block, absl::MakeSpan(words_), ended);
    at_end_ = ended;
    if (ended && block->rows() > 0) break;
    if (ended || control_->closed()) return end(epoch_);
    if (!status.ok()) break;
    if (!Mine(position)) block->Truncate(before);
    if (block->rows() == 0) block->columns.clear();
    if (block->rows() >= rows) break;
  }
  block->checkpoint = checkpoint();
  if (!status.ok()) {
    at_end_ = true;
    AddErrorField(status, ErrorField::kOperator, source_name_);
    AddErrorField(status, ErrorField::kLocation, location_);
    AddErrorField(status, ErrorField::kRow, Cat("epoch ", epoch_, ", after ", words_[0], " rows"));
    block->Fail(block->rows(), std::move(status));
  }
  return block;
}

void StreamSourceStage::RunTask(Task& task) {
  const int rows = GroupRows();
  std::vector<Message> parts;
  int made = 0;
  for (; made < task.count && !exhausted_ && !control_->closed(); ++made) {
    // Looks again: a task of several rows may cross into an epoch that user code must not begin.
    if (made > 0 && (Gated(epoch_) || output_.FreeSlots() == 0)) break;
    Message block = NextMessage(rows);
    task.rows += static_cast<uint64_t>(block->rows());
    ApplyElements(0, std::move(block), parts);
    int taken = 0;
    const std::optional<uint64_t> number = output_.TryTake(1, taken);
    if (!number.has_value()) return;  // closed
    PushParts(*number, parts);
  }
  task.count = std::max(1, made);
}

}  // namespace headrace
