#include "ops/group/grouped_batches.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "engine/operator/listed_rows.h"
#include "ops/rows/separate_copy.h"
#include "ops/rows/separate_row.h"

namespace headrace {
namespace {

constexpr uint64_t kMostRows = uint64_t{1} << 62;

// Where groups are not known in advance, so many rows may be held that a list of them would cost more than a batch.
constexpr size_t kMostListed = size_t{1} << 14;

// The row alone, or a copy of it where it would keep much more memory than it needs. The row itself if there is no
// memory for a copy.
Tensor Alone(Tensor row) {
  if (IsVariableLength(row.dtype())) return SeparateRow(std::move(row));
  if (row.footprint() <= kMostKeptByRow * row.bytes() + kBufferAlignment) return row;
  absl::StatusOr<Tensor> copy = Tensor::Allocate(row.dtype(), row.shape());
  if (!copy.ok()) return row;
  row.CopyTo(copy->mutable_raw());
  return *std::move(copy);
}

}  // namespace

absl::Status GroupedBatches::CheckCounters(absl::Span<const uint64_t> counters) const {
  const bool anew = lists_ && counters.back() == kFromStart;
  if (anew && known_ > 0) return CounterError("held more rows than its batches have");
  // The rows listed are checked where the input's counters are.
  const size_t listed = lists_ ? ListedRows(counters).size() + 1 : 0;
  for (const uint64_t counter : counters.first(counters.size() - listed)) {
    if (counter > kMostRows) return CounterError("used ", counter, " rows");
  }
  return absl::OkStatus();
}

void GroupedBatches::Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) {
  Clear();
  failed_ = false;
  last_failed_ = absl::OkStatus();
  number_ = given_ = 0;
  const bool lists = lists_ && counters.back() != kFromStart;
  rows_.Start(epoch, inputs, lists ? 0 : counters[counters.size() - (lists_ ? 2 : 1)]);
  for (size_t i = 0; counts_ && i < known_; ++i) skip_[i] = counters[i];
  if (known_ == 0) (lists ? number_ : given_) = counters[0];
  awaited_.clear();
  if (lists) awaited_.assign(ListedRows(counters).begin(), ListedRows(counters).end());
  listed_.Assign(awaited_);
  std::fill(taken_.begin(), taken_.end(), 0);
  std::fill(taken_before_.begin(), taken_before_.end(), 0);
  const auto counts = [](uint64_t counter) { return counter > 0; };
  had_rows_ =
      std::any_of(counters.begin(), counters.end() - 1, counts) || std::any_of(inputs.begin(), inputs.end(), counts);
}

void GroupedBatches::Receive(int /*input*/, Message message, Outbox& out) {
  const bool waits = has_pending_output();
  rows_.Push(std::move(message));
  if (!waits) Continue(out);
}

void GroupedBatches::Continue(Outbox& out) {
  while (Step(out)) continue;
}

void GroupedBatches::Finish(uint64_t epoch) {
  if (rows_.epoch() > epoch) return;
  Clear();
  rows_.Finish(epoch);
}

bool GroupedBatches::Step(Outbox& out) {
  Block* const block = rows_.Current();
  if (block == nullptr) return false;
  NotePoint();
  if (block->removed != nullptr) PassOnRemoved(*block, out);
  if (!rows_.HasRow()) return EndMessage(*block, out);
  if (!block->tombstone()) return UseRow(*block, out);
  UseTombstone(*block, out);
  return true;
}

bool GroupedBatches::UseRow(Block& block, Outbox& out) {
  const int row = rows_.row();
  had_rows_ = true;
  if (failed_) {
    Pass();
    return true;
  }
  const bool awaited = rows_.next() < awaited_.size();
  const absl::StatusOr<uint64_t> group = groups_->GroupOf(block, row, NumberOfRow());
  if (!group.ok()) {
    absl::Status error = group.status();
    AddErrorField(error, ErrorField::kFile, DescribeProvenance(block.provenances[row]));
    AddErrorField(error, ErrorField::kRow, DescribeRowId(block.ids[row]));
    Pass();
    GiveError(std::move(error), out);
    return false;
  }
  if (counts_) {
    ++taken_[*group];
    if (skip_[*group] > 0) {
      --skip_[*group];
      Pass();
      return true;
    }
  }
  const auto held = Add(*group, block, row);
  // The checkpoint moves first, as after the last row of a message nothing of it comes again.
  Pass();
  if (held->second.rows->rows() < groups_->SizeOf(*group)) return true;
  if (!awaited) return !GiveBatch(held, out);
  GiveError(CounterError("held rows that fill a batch"), out);
  return false;
}

uint64_t GroupedBatches::NumberOfRow() const {
  if (!lists_) return rows_.next();
  return rows_.next() < awaited_.size() ? awaited_[rows_.next()] : rows_.position();
}

GroupedBatches::HeldGroups::iterator GroupedBatches::Add(uint64_t group, Block& block, int row) {
  const auto [held, added] = held_.try_emplace(group);
  if (added) {
    held->second.rows = groups_->BatchOf(group);
    if (!lists_) held->second.from = rows_.point();
    if (counts_) held->second.taken = taken_before_;
  }
  if (lists_) {
    held->second.numbers.push_back(NumberOfRow());
    if (rows_.next() >= awaited_.size()) listed_.Add(NumberOfRow());
  }
  BatchRows& rows = *held->second.rows;
  const size_t before = rows.held_bytes();
  const Message single = TakeRow(block, row);
  for (BlockColumn& column : single->columns) column.SetRow(0, Alone(column.TakeRow(0)));
  rows.Add(*single, 0, 1);
  held_bytes_ += rows.held_bytes() - before;
  return held;
}

void GroupedBatches::Pass() {
  rows_.Pass();
  NotePoint();
}

void GroupedBatches::NotePoint() {
  if (counts_ && rows_.point().first == rows_.next()) taken_before_ = taken_;
}

void GroupedBatches::UseTombstone(Block& block, Outbox& out) {
  const bool counted = rows_.replaying();
  // A row that was held failed now.
  if (rows_.next() < awaited_.size()) listed_.Remove(awaited_[rows_.next()]);
  Pass();
  if (counted) {
    block.error = absl::OkStatus();
    return;
  }
  if (!had_rows_) last_failed_ = SeparateCopy(block.error);
  block.MarkRemoved();
  PassOnRemoved(block, out);
}

bool GroupedBatches::EndMessage(Block& block, Outbox& out) {
  if (block.end == End::kEpoch) {
    rows_.EndReplay();
    if (!held_.empty()) return !GiveBatch(held_.begin(), out);
    EndEpoch(block.epoch, out);
    return false;
  }
  if (block.end == End::kError) GiveError(std::move(block.error), out);
  rows_.Pop();
  return true;
}

bool GroupedBatches::GiveBatch(HeldGroups::iterator held, Outbox& out) {
  if (given_ > 0) {
    --given_;
    ++number_;
    Forget(held);
    return false;
  }
  BatchRows& batch = *held->second.rows;
  const RowId id = batch.first_id();
  const int rows = batch.rows();
  held_bytes_ -= batch.held_bytes();
  absl::StatusOr<Message> message = batch.Take({rows_.epoch(), number_}, /*mark_padding=*/false);
  Forget(held);
  ++number_;
  if (message.ok()) {
    (*message)->checkpoint = CheckpointNow();
    out.Give(*std::move(message));
    return true;
  }
  absl::Status error = std::move(message).status();
  AddErrorField(error, ErrorField::kRow, Cat("the batch of ", rows, " that begins with ", DescribeRowId(id)));
  GiveError(std::move(error), out);
  return true;
}

void GroupedBatches::Forget(HeldGroups::iterator held) {
  held_bytes_ -= held->second.rows->held_bytes();
  groups_->Emptied(held->first);
  for (const uint64_t number : held->second.numbers) listed_.Remove(number);
  held_.erase(held);
}

void GroupedBatches::PassOnRemoved(Block& block, Outbox& out) const {
  auto note = std::make_unique<Block>();
  note->epoch = rows_.epoch();
  note->checkpoint = CheckpointNow();
  // Rows that are held need not be in that checkpoint.
  note->continues = true;
  note->TakeRemovedOf(block);
  out.Give(std::move(note));
}

void GroupedBatches::GiveError(absl::Status error, Outbox& out) {
  out.Give(MakeErrorMessage(rows_.epoch(), CheckpointNow(), std::move(error)));
  Clear();
  failed_ = true;
}

Checkpoint GroupedBatches::CheckpointNow() const {
  if (lists_) return CheckpointListing();
  if (known_ == 0) {
    Checkpoint checkpoint(rows_.point().before.size(), 0);
    checkpoint.push_back(number_);
    checkpoint.push_back(rows_.Since({}));
    return checkpoint;
  }
  const Held* oldest = nullptr;
  for (const auto& [group, held] : held_) {
    if (oldest == nullptr || held.from.first < oldest->from.first) oldest = &held;
  }
  const ReplayPoint& from = oldest == nullptr ? rows_.point() : oldest->from;
  const std::vector<uint64_t>& before = oldest == nullptr ? taken_before_ : oldest->taken;
  Checkpoint checkpoint = from.before;
  const size_t first = checkpoint.size();
  for (size_t i = 0; i < known_; ++i) checkpoint.push_back(taken_[i] - before[i]);
  for (const auto& [group, held] : held_) {
    checkpoint[first + group] -= static_cast<uint64_t>(held.rows->rows());
  }
  checkpoint.push_back(rows_.Since(from));
  return checkpoint;
}

Checkpoint GroupedBatches::CheckpointListing() const {
  Checkpoint checkpoint = rows_.point().before;
  if (known_ == 0 && listed_.size() > kMostListed) {
    checkpoint.assign(checkpoint.size(), 0);
    for (const uint64_t counter : {number_, rows_.position() + (rows_.ended() ? 1 : 0), kFromStart})
      checkpoint.push_back(counter);
    return checkpoint;
  }
  checkpoint[0] = rows_.position();
  if (known_ == 0) checkpoint.push_back(number_);
  listed_.AppendTo(checkpoint);
  checkpoint.push_back(listed_.size());
  return checkpoint;
}

void GroupedBatches::EndEpoch(uint64_t epoch, Outbox& out) {
  if (!had_rows_ && !last_failed_.ok() && !failed_) GiveError(NothingLeftError("this epoch", last_failed_), out);
  out.Give(MakeEndOfEpoch(epoch, CheckpointNow()));
  Clear();
  failed_ = had_rows_ = false;
  last_failed_ = absl::OkStatus();
  rows_.EndEpoch();
  awaited_.clear();
  number_ = given_ = 0;
  std::fill(skip_.begin(), skip_.end(), 0);
  std::fill(taken_.begin(), taken_.end(), 0);
  std::fill(taken_before_.begin(), taken_before_.end(), 0);
}

void GroupedBatches::Clear() {
  for (auto& [group, held] : held_) groups_->Emptied(group);
  held_.clear();
  listed_.Clear();
  held_bytes_ = 0;
}

}  // namespace headrace
