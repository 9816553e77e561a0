#include "engine/exec/indexed_source_stage.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/brief_lock.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/row_id.h"
#include "core/text.h"
#include "engine/exec/group_size.h"
#include "io/files/started_reads.h"

namespace headrace {
namespace {

// Mixed into a key before a pass: the numbers that operators mix into keys are small.
constexpr uint64_t kPass = 0x3ac5e1f94d2b8067ULL;

// Gives a repeated row other random draws than the row it repeats.
void MarkPass(uint64_t pass, absl::Span<RowId> ids) {
  if (pass == 0) return;
  for (RowId& id : ids) {
    id.key = MixKey(MixKey(id.key, kPass), pass);
    id.pad = true;
  }
}

}  // namespace

IndexedSourceStage::IndexedSourceStage(const PlannedStage& plan, RunControl* control, Parts parts,
                                       const PlannedOperator& op, std::unique_ptr<IndexedSource> source,
                                       const ShardAssignment& shard, EpochRange epochs, const SourceRanges& ranges)
    : Stage(plan, control, std::move(parts)),
      op_(op),
      source_(std::move(source)),
      shard_(shard),
      ranges_(ranges),
      properties_(source_->properties()),
      step_(properties_.run_length > 1 ? 1 : shard.world),
      last_epoch_(epochs.last),
      expected_(op.counters.size() > 1 ? op.counters[1] : 0),
      epoch_(epochs.first),
      local_(op.counters[0]),
      base_(shard.base),
      begun_(false),
      source_begun_(!properties_.begins),
      size_(source_->size()),
      exhausted_(epochs.first > epochs.last) {
  if (source_begun_ && ranges_.asked == nullptr) StartEpochLocked({size_, 0});
}

void IndexedSourceStage::StartEpochLocked(const BegunEpoch& begun) {
  size_ = begun.rows;
  chosen_ = begun.chosen;
  epoch_rows_ = shard_.RowsOf(size_, base_, properties_.run_length);
  begun_ = true;
  if (ranges_.asked == nullptr) return;
  source_begun_ = true;
  const BatchRange range = ranges_.asked->At(epoch_);
  local_ = RowsOfBatches(range.first, ranges_.batch_rows, epoch_rows_);
  epoch_rows_ = RowsOfBatches(std::max(range.first, range.end), ranges_.batch_rows, epoch_rows_);
}

void IndexedSourceStage::StartRangeLocked() {
  if (ranges_.asked != nullptr && !begun_ && source_begun_ && AskedLocked()) StartEpochLocked({size_, chosen_});
}

bool IndexedSourceStage::AskedLocked() const {
  if (Gated(epoch_)) return false;
  return begun_ || ranges_.asked == nullptr || ranges_.asked->Has(epoch_);
}

uint64_t IndexedSourceStage::RowEpoch(uint64_t epoch) const { return RowEpochOf(DataEpoch(epoch), op_.epoch_cycle); }

void IndexedSourceStage::DropOperators() {
  source_.reset();
  Stage::DropOperators();
}

BlockedReason IndexedSourceStage::BlockedLocked() {
  if (exhausted_ || !AskedLocked()) return BlockedReason::kTurn;
  StartRangeLocked();
  if (beginning_ || (!BegunLocked() && running_ > 0)) return BlockedReason::kTurn;
  return output_.FreeSlots() > 0 ? BlockedReason::kNone : BlockedReason::kOutput;
}

bool IndexedSourceStage::FirstTicketLocked(Ticket& ticket) {
  const std::vector<uint64_t>& rows = op_.read_first;
  // Its epoch may be done with, or failed to begin.
  if (read_first_ < rows.size() && (Finished(epoch_) || rows[read_first_] >= epoch_rows_)) read_first_ = rows.size();
  if (read_first_ == rows.size()) return false;
  const uint64_t position = shard_.PositionOf(rows[read_first_++], base_, properties_.run_length);
  ticket = RowsFromLocked(position, 1);
  return true;
}

IndexedSourceStage::Ticket IndexedSourceStage::RowsFromLocked(uint64_t position, int rows) const {
  const uint64_t place = position % size_;
  return {epoch_, place, rows, local_, position / size_, position - place, chosen_, Ticket::Kind::kRows};
}

bool IndexedSourceStage::NextTicketLocked(int most_rows, Ticket& ticket) {
  if (exhausted_) return false;
  if (FirstTicketLocked(ticket)) return true;
  if (plan_.joined_rows > 0) {
    most_rows = static_cast<int>(std::min<int64_t>(most_rows, plan_.joined_rows));
    most_rows = EndAtBatch(most_rows, local_, plan_.joined_rows);
  }
  const bool enough = Finished(epoch_);
  if (!enough && local_ < epoch_rows_) {
    const uint64_t run_length = properties_.run_length;
    const uint64_t position = shard_.PositionOf(local_, base_, run_length);
    // A message ends where the positions begin again, or with the run if other ranks have the next one.
    const uint64_t in_pass =
        step_ < shard_.world ? run_length - local_ % run_length : (size_ - position % size_ - 1) / shard_.world + 1;
    const uint64_t in_run = properties_.uneven_runs ? RowsLeftInRun(position % size_) : in_pass;
    const uint64_t rows = std::min({static_cast<uint64_t>(most_rows), epoch_rows_ - local_, in_pass, in_run});
    // The positions after the last row of an uneven run hold none, and are passed with it.
    const bool ends_run = properties_.uneven_runs && rows == in_run;
    local_ += ends_run ? run_length - local_ % run_length : rows;
    ticket = RowsFromLocked(position, static_cast<int>(rows));
    return true;
  }
  // One marker ends all epochs that are not wanted.
  const uint64_t ended = enough ? wanted_from_.load(std::memory_order_acquire) - 1 : epoch_;
  ticket = {ended, 0, 0, local_, 0, 0, chosen_, Ticket::Kind::kEnd};
  if (ended >= last_epoch_) {
    exhausted_ = true;
    return true;
  }
  epoch_ = ended + 1;
  local_ = 0;
  base_ = 0;
  expected_ = 0;
  begun_ = false;
  if (!properties_.begins && ranges_.asked == nullptr) StartEpochLocked({size_, 0});
  StartRangeLocked();
  return true;
}

uint64_t IndexedSourceStage::RowsLeftInRun(uint64_t position) const {
  const uint64_t place = position % properties_.run_length;
  const uint64_t rows = source_->RunRows(position - place);
  return rows - std::min(place, rows);
}

BlockedReason IndexedSourceStage::ClaimLocked(Task& claimed, int most) {
  auto& task = static_cast<ReadTask&>(claimed);
  most = std::min(most, output_.FreeSlots());
  const int rows = GroupRows();
  int reads = plan_.far_reads > 0 ? FarReadsOfTask() : std::numeric_limits<int>::max();
  Ticket ticket;
  // The user's code may not run for the next epoch yet.
  while (static_cast<int>(task.tickets.size()) < most && reads > 0 && AskedLocked() && BegunLocked() &&
         NextTicketLocked(std::min(rows, reads), ticket)) {
    task.tickets.push_back(ticket);
    reads -= ticket.rows;
  }
  if (task.tickets.empty() && !exhausted_ && AskedLocked() && !BegunLocked() && most > 0) {
    task.tickets.push_back({epoch_, 0, 0, local_, 0, 0, expected_, Ticket::Kind::kBegin});
    beginning_ = true;
  }
  if (task.tickets.empty()) return BlockedReason::kOutput;
  task.worked.known = WorkedRows::Known::kPosition;
  task.worked.id = {DataEpoch(task.tickets[0].epoch), task.tickets[0].position, false};
  for (const Ticket& each : task.tickets) task.worked.more += static_cast<uint64_t>(each.rows);
  task.worked.more -= task.worked.more > 0 ? 1 : 0;
  task.count = static_cast<int>(task.tickets.size());
  task.first = output_.TakePromised(task.count);
  // Rows that are begun together are read together: one begun for each slot that becomes free is a request each.
  if (plan_.far_reads > 0) output_.SetRoom(Grain());
  return BlockedReason::kNone;
}

int IndexedSourceStage::ClaimableLocked(int /*most*/) { return output_.FreeSlots(); }

Message IndexedSourceStage::MakeMessage(const Ticket& ticket) const {
  auto block = std::make_unique<Block>();
  block->epoch = ticket.epoch;
  block->checkpoint = CheckpointOf(ticket);
  return block;
}

Message IndexedSourceStage::End(const Ticket& ticket) const {
  absl::Status unchanged = control_->closed() ? absl::OkStatus() : source_->CheckUnchanged();
  if (unchanged.ok()) return MakeEndOfEpoch(ticket.epoch, CheckpointOf(ticket));
  Message block = MakeMessage(ticket);
  AddOperator(unchanged, op_);
  AddErrorField(unchanged, ErrorField::kRow, Cat("epoch ", DataEpoch(ticket.epoch)));
  block->Fail(0, std::move(unchanged));
  return block;
}

Message IndexedSourceStage::Read(const Ticket& ticket, bool sought) {
  if (ticket.kind == Ticket::Kind::kEnd) return End(ticket);
  if (ticket.kind == Ticket::Kind::kBegin) return Begin(ticket);
  Message block = MakeMessage(ticket);
  if (Unwanted(ticket.epoch)) return block;
  if (!sought && FindRow(ticket, *block)) return block;
  ReadRows(ticket, *block);
  if (block->cache_trail) counters_.Read(block->cache_trail->made_ns);
  return block;
}

Checkpoint IndexedSourceStage::CheckpointOf(const Ticket& ticket) const {
  Checkpoint checkpoint{ticket.local};
  if (op_.counters.size() > 1) checkpoint.push_back(ticket.chosen);
  return checkpoint;
}

// No other task runs.
Message IndexedSourceStage::Begin(const Ticket& ticket) {
  Message block = MakeMessage(ticket);
  absl::StatusOr<BegunEpoch> begun = BegunEpoch{};
  const bool needed = !Finished(ticket.epoch) && !control_->closed();
  if (needed) begun = source_->Begin(RowEpoch(ticket.epoch));
  const bool differs = needed && begun.ok() && ticket.chosen != 0 && begun->chosen != ticket.chosen;
  if (differs) {
    begun = StateError("gives other rows for epoch ", DataEpoch(ticket.epoch),
                       " than when the state was taken; its order must follow from the epoch and rng alone");
  }
  if (needed && begun.ok()) {
    const uint64_t rows = shard_.RowsOf(begun->rows, base_, properties_.run_length);
    if (ticket.local > rows) {
      begun = CounterError("gave ", ticket.local, " rows of ", rows);
    } else if (ticket.local < rows && InGap(ticket.local, begun->rows)) {
      begun = CounterError("pointed past the last row of a batch");
    }
  }
  const auto lock = BriefLock(mutex_);
  beginning_ = false;
  StartEpochLocked(begun.value_or(BegunEpoch{}));
  if (begun.ok()) return block;
  absl::Status status = std::move(begun).status();
  AddOperator(status, op_);
  block->Fail(0, std::move(status));
  return block;
}

bool IndexedSourceStage::InGap(uint64_t local, uint64_t size) const {
  if (!properties_.uneven_runs) return false;
  return RowsLeftInRun(shard_.PositionOf(local, base_, properties_.run_length) % size) == 0;
}

Positions IndexedSourceStage::PositionsOf(const Ticket& ticket) const {
  Positions positions(static_cast<size_t>(ticket.rows));
  uint64_t next = FirstPosition(ticket);
  for (uint64_t& position : positions) position = std::exchange(next, next + step_);
  return positions;
}

void IndexedSourceStage::ReadRows(const Ticket& ticket, Block& block) const {
  if (!caches_.empty()) block.cache_trail = std::make_unique<CacheTrail>();
  const uint64_t start = block.cache_trail ? NowNs() : 0;
  const uint64_t epoch = RowEpoch(ticket.epoch);
  absl::Status status = ticket.rows == 1 ? source_->Read({epoch, FirstPosition(ticket)}, block)
                                         : source_->ReadRows({epoch, PositionsOf(ticket)}, block);
  MarkPass(ticket.pass, absl::MakeSpan(block.ids));
  if (block.cache_trail) {
    block.cache_trail->made_ns = NowNs() - start;
    if (block.rows() == 1) block.cache_trail->source_key = block.ids[0].key;
  }
  if (status.ok()) return;
  const uint64_t failed = ticket.position + static_cast<uint64_t>(block.rows()) * step_;
  AddOperator(status, op_);
  AddErrorField(status, ErrorField::kRow, Cat("epoch ", DataEpoch(ticket.epoch), ", position ", failed));
  const int row = block.rows();
  FailedRow identified = Identify(ticket, row);
  AddErrorField(status, ErrorField::kFile, DescribeProvenance(identified.provenance));
  block.Fail(row, std::move(status));
  if (op_.skip_failed) block.failed = std::make_unique<FailedRow>(std::move(identified));
}

FailedRow IndexedSourceStage::Identify(const Ticket& ticket, int row) const {
  FailedRow failed;
  const uint64_t position = ticket.position + static_cast<uint64_t>(row) * step_;
  source_->Identify(RowEpoch(ticket.epoch), position, failed.id, failed.provenance);
  MarkPass(ticket.pass, absl::MakeSpan(&failed.id, 1));
  return failed;
}

bool IndexedSourceStage::FindRow(const Ticket& ticket, Block& block) const {
  if (caches_.empty() || ticket.rows != 1) return false;
  FailedRow row = Identify(ticket, 0);
  if (!TakeCached(row.id.key, block)) return false;
  block.cache_trail->source_key = row.id.key;
  block.ids.push_back(row.id);
  block.provenances.push_back(std::move(row.provenance));
  return true;
}

void IndexedSourceStage::StartRows(const ReadTask& task, std::vector<Message>& found) const {
  found.resize(task.tickets.size());
  Positions positions;
  for (size_t i = 0; i < task.tickets.size(); ++i) {
    const Ticket& ticket = task.tickets[i];
    const bool reads = ticket.kind == Ticket::Kind::kRows && !Unwanted(ticket.epoch);
    Message block = reads ? MakeMessage(ticket) : nullptr;
    if (reads && FindRow(ticket, *block)) {
      found[i] = std::move(block);
    } else if (reads) {
      const Positions own = PositionsOf(ticket);
      positions.insert(positions.end(), own.begin(), own.end());
    }
    // Rows of one epoch are begun together, so that neighbours are read together.
    const bool last = i + 1 == task.tickets.size() || task.tickets[i + 1].epoch != ticket.epoch;
    if (!last || positions.empty()) continue;
    source_->StartRows({RowEpoch(ticket.epoch), positions});
    positions.clear();
  }
}

void IndexedSourceStage::RunTicket(Ticket ticket, Message found, ReadTask& task) {
  task.rows += static_cast<uint64_t>(ticket.rows);
  // Continues after a row that failed.
  while (true) {
    Message block = found ? std::move(found) : Read(ticket, plan_.far_reads > 0);
    const bool failed = block->end == End::kError;
    const int read = block->rows() + (failed ? 1 : 0);
    const bool more = failed && read < ticket.rows;
    Message tombstone = failed && SkipsFailed(op_, *block) ? block->TakeTombstone(more) : nullptr;
    if (!tombstone || block->rows() > 0) ApplyElements(elements_, 0, std::move(block), task.parts);
    if (tombstone) ApplyElements(elements_, 0, std::move(tombstone), task.parts);
    if (!more) return;
    ticket.position += static_cast<uint64_t>(read) * step_;
    ticket.rows -= read;
  }
}

void IndexedSourceStage::RunTask(Task& claimed) {
  auto& task = static_cast<ReadTask&>(claimed);
  const bool far = plan_.far_reads > 0;
  std::optional<StartedReads> started;
  std::vector<Message> found;
  if (far) {
    started.emplace();
    StartRows(task, found);
  }
  for (size_t i = 0; i < task.tickets.size(); ++i) {
    RunTicket(task.tickets[i], far ? std::move(found[i]) : nullptr, task);
    GiveParts(task);
    // The next one may take as long as this one did.
    if (far) Deliver(task);
  }
  Deliver(task);
}

}  // namespace headrace
