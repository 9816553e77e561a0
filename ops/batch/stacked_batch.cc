#include "ops/batch/stacked_batch.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "engine/operator/batch_memory.h"
#include "ops/batch/gathered_strings.h"
#include "ops/batch/padding.h"

namespace headrace {
namespace {

// Batches up to this size get their memory at once; larger ones grow, because the epoch may end before they are full.
constexpr size_t kAtOnceBytes = size_t{256} << 20;
constexpr size_t kFirstStackedBytes = size_t{16} << 10;

bool SameType(const Tensor& whole, const Tensor& row) {
  return whole.dtype() == row.dtype() && whole.rank() == row.rank() + 1 &&
         std::equal(row.shape().begin(), row.shape().end(), whole.shape().begin() + 1);
}

// Of numbers or rows of numbers, such as tokens and boxes, that differ in how many they are.
bool AreLists(const Tensor& first, const Tensor& row) {
  return first.rank() == row.rank() && row.rank() <= 2 &&
         std::equal(row.shape().begin() + 1, row.shape().end(), first.shape().begin() + 1);
}

std::string_view WaysToJoin(const Tensor& first, const Tensor& row) {
  if (first.dtype() != row.dtype()) return "convert them to one dtype (TypeCast)";
  if (row.rank() > 0 && AreLists(first, row)) {
    return "use batch(ragged=\"splits\") or \"list\", which join them as they are, or batch(pad=True)";
  }
  return "make them alike (Resize, PadEnd), or use batch(pad=True), or batch(ragged=…) where their first axis alone "
         "differs; Resize with one number keeps proportions: give it both, as in Resize((224, 224))";
}

absl::Status Ragged(const Tensor& first, const Tensor& row) {
  return GraphError("rows of a batch differ: ", first.TypeName(), " and ", row.TypeName(), "; ",
                    WaysToJoin(first, row));
}

// Rows of a sliceable column, out of the block if they are all of its rows.
Tensor TakeRun(Block& block, size_t column, int from, int count) {
  if (count < block.rows()) return block.columns[column].stack().Slice(0, from, count);
  return std::exchange(block.columns[column], BlockColumn()).stack();
}

// Whether rows can become the batch as they are: nobody else has them, they are not part of more memory, and byte
// strings are end to end.
bool StandAlone(const Tensor& rows) {
  const bool strings = IsVariableLength(rows.dtype());
  if (strings && !rows.joined()) return false;
  const size_t used = rows.bytes() + (strings ? rows.ends().size() * sizeof(int64_t) : 0);
  return rows.buffer().unique() && rows.footprint() <= 2 * used;
}

// Keeps out lent memory, which has the capacity 0 (that of Arrow, arrays and caches): who has the batch may write into
// its numbers.
bool OwnTheirMemory(const Tensor& numbers) { return numbers.footprint() >= numbers.bytes(); }

absl::StatusOr<Tensor> StackStrings(const std::vector<Tensor>& rows) {
  Shape shape = rows[0].shape();
  shape.insert(shape.begin(), static_cast<int64_t>(rows.size()));
  if (std::optional<Tensor> gathered = GatherStrings(rows, shape)) return *std::move(gathered);
  return Stack(rows);
}

absl::StatusOr<Tensor> JoinRuns(const std::vector<Tensor>& runs) {
  Shape shape = runs[0].shape();
  for (size_t i = 1; i < runs.size(); ++i) shape[0] += runs[i].dim(0);
  if (std::optional<Tensor> gathered = GatherStrings(runs, shape)) return *std::move(gathered);
  return JoinStrings(runs);
}

}  // namespace

absl::Status StackedBatch::Grow(GrowingColumn& column, const Tensor& row, int64_t filled, int64_t more) {
  const size_t row_bytes = std::max<size_t>(1, row.bytes());
  int64_t capacity = size_;
  if (static_cast<size_t>(size_) > kAtOnceBytes / row_bytes) {
    capacity = std::min(
        capacity, std::max({filled * 2, filled + more, static_cast<int64_t>(kFirstStackedBytes / row_bytes) + 1}));
  }
  Shape shape = row.shape();
  shape.insert(shape.begin(), capacity);
  HEADRACE_ASSIGN_OR_RETURN(Tensor whole, Tensor::Allocate(row.dtype(), shape));
  if (filled > 0) std::memcpy(whole.mutable_raw(), column.whole.raw(), static_cast<size_t>(filled) * row.bytes());
  held_bytes_ += whole.footprint() - (column.whole.valid() ? column.whole.footprint() : 0);
  column.whole = std::move(whole);
  return absl::OkStatus();
}

absl::Status StackedBatch::Fit(GrowingColumn& column, const Tensor& row, int64_t filled, int64_t more) {
  if (column.whole.valid() && !SameType(column.whole, row)) return Ragged(column.whole.Index(0), row);
  if (!column.rows.empty()) return Ragged(column.rows[0], row);
  if (!column.runs.empty()) return Ragged(column.runs[0].Index(0), row);
  if (column.whole.valid() && column.whole.dim(0) >= filled + more) return absl::OkStatus();
  return Grow(column, row, filled, more);
}

absl::Status StackedBatch::AddRagged(GrowingColumn& column, const Tensor& row) {
  const size_t before = column.ragged.held_bytes();
  HEADRACE_RETURN_IF_ERROR(column.ragged.Add(row));
  held_bytes_ += column.ragged.held_bytes() - before;
  return absl::OkStatus();
}

absl::Status StackedBatch::AddRaggedRun(GrowingColumn& column, const BlockColumn& rows, int from, int count) {
  const size_t before = column.ragged.held_bytes();
  const absl::Span<const int64_t> splits =
      rows.splits().subspan(static_cast<size_t>(from), static_cast<size_t>(count) + 1);
  HEADRACE_RETURN_IF_ERROR(column.ragged.AddRun(rows.values(), splits));
  held_bytes_ += column.ragged.held_bytes() - before;
  return absl::OkStatus();
}

absl::Status StackedBatch::AddTo(size_t c, Tensor row, int64_t at) {
  GrowingColumn& column = columns_[c];
  if (IsRagged(joined_[c].joining)) return AddRagged(column, row);
  for (const Tensor& run : std::exchange(column.runs, {})) {
    for (int64_t i = 0; i < run.dim(0); ++i) column.rows.push_back(run.Index(i));
  }
  const bool pads = joined_[c].joining == Joining::kPad;
  if (pads || IsVariableLength(row.dtype())) {
    if (column.whole.valid()) return Ragged(column.whole.Index(0), row);
    if (!column.rows.empty() && column.rows[0].dtype() != row.dtype()) return Ragged(column.rows[0], row);
    if (!pads && !column.rows.empty() && column.rows[0].shape() != row.shape()) return Ragged(column.rows[0], row);
    Hold(row, column.rows);
    waiting_bytes_ += static_cast<int64_t>(row.bytes());
    column.rows.push_back(std::move(row));
    return absl::OkStatus();
  }
  HEADRACE_RETURN_IF_ERROR(Fit(column, row, at, 1));
  uint8_t* const target = column.whole.mutable_raw() + static_cast<size_t>(at) * row.bytes();
  if (row.raw() != target) row.CopyTo(target);
  return absl::OkStatus();
}

absl::Status StackedBatch::FollowSlots(const Block& block) {
  if (ids_.empty() && block.batch_memory != nullptr && block.batch_slot == 0 && block.rows() == 1) {
    memory_ = block.batch_memory;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (joined_[c].joining != Joining::kStack) continue;
      columns_[c].whole = memory_->whole(c);
      if (columns_[c].whole.valid()) held_bytes_ += columns_[c].whole.footprint();
    }
    return absl::OkStatus();
  }
  const bool promised = block.batch_memory == memory_ && block.batch_slot == rows();
  return memory_ == nullptr || promised ? absl::OkStatus() : LeaveMemory();
}

// A row did not arrive as promised: memory written from now on might be another row's slot.
absl::Status StackedBatch::LeaveMemory() {
  memory_.reset();
  for (GrowingColumn& column : columns_) {
    if (!column.whole.valid() || rows() == 0) continue;
    HEADRACE_ASSIGN_OR_RETURN(Tensor own, Tensor::Allocate(column.whole.dtype(), column.whole.shape()));
    std::memcpy(own.mutable_raw(), column.whole.raw(), column.whole.Slice(0, 0, rows()).bytes());
    column.whole = std::move(own);
  }
  return absl::OkStatus();
}

absl::Status StackedBatch::AddRun(GrowingColumn& column, Tensor rows) {
  const bool whole = this->rows() == 0 && rows.dim(0) == size_;
  if (whole && column.rows.empty() && column.runs.empty() && StandAlone(rows) && OwnTheirMemory(rows)) {
    held_bytes_ += rows.footprint();
    column.whole = std::move(rows);
    return absl::OkStatus();
  }
  const Tensor first = rows.Index(0);
  HEADRACE_RETURN_IF_ERROR(Fit(column, first, this->rows(), rows.dim(0)));
  std::memcpy(column.whole.mutable_raw() + static_cast<size_t>(this->rows()) * first.bytes(), rows.raw(), rows.bytes());
  return absl::OkStatus();
}

absl::Status StackedBatch::AddStrings(size_t c, Tensor rows) {
  GrowingColumn& column = columns_[c];
  if (column.whole.valid() || !column.rows.empty()) {
    for (int64_t i = 0; i < rows.dim(0); ++i) HEADRACE_RETURN_IF_ERROR(AddTo(c, rows.Index(i), this->rows() + i));
    return absl::OkStatus();
  }
  if (!column.runs.empty()) {
    const Tensor first = column.runs[0].Index(0);
    const Tensor row = rows.Index(0);
    if (first.dtype() != row.dtype() || first.shape() != row.shape()) return Ragged(first, row);
  }
  const size_t ends = (static_cast<size_t>(rows.elements()) + 1) * sizeof(int64_t);
  held_bytes_ += rows.bytes() + (rows.joined() ? ends : rows.spans_bytes());
  waiting_bytes_ += static_cast<int64_t>(rows.bytes() + ends);
  column.runs.push_back(std::move(rows));
  return absl::OkStatus();
}

void StackedBatch::NameColumn(size_t column, const Block& block, int row) {
  failed_ = Reworded(failed_, Cat("column \"", joined_[column].name, "\", in the row of ",
                                  DescribeRowId(block.ids[row]), ": ", ToStd(failed_.message())));
  AddErrorField(failed_, ErrorField::kFile, DescribeProvenance(block.provenances[row]));
}

void StackedBatch::AddRow(Block& block, int row) {
  if (failed_.ok()) failed_ = FollowSlots(block);
  for (size_t c = 0; c < columns_.size() && failed_.ok(); ++c) {
    failed_ = AddTo(c, block.columns[c].TakeRow(row), rows());
    if (!failed_.ok()) NameColumn(c, block, row);
  }
  ids_.push_back(block.ids[row]);
  // The batch may be with the user before the message is gone.
  if (row + 1 == block.rows()) block.batch_memory.reset();
}

Tensor StackedBatch::LastRow(size_t c) const {
  const GrowingColumn& column = columns_[c];
  if (IsRagged(joined_[c].joining)) return column.ragged.last();
  if (!column.rows.empty()) return column.rows.back();
  if (column.runs.empty()) return column.whole.Index(rows() - 1);
  const Tensor& run = column.runs.back();
  return run.Index(run.dim(0) - 1);
}

void StackedBatch::RepeatColumns() {
  // Its memory may be the slot of a row that is being made.
  if (failed_.ok() && memory_ != nullptr) failed_ = LeaveMemory();
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (failed_.ok()) failed_ = AddTo(c, LastRow(c), rows());
  }
}

absl::Status StackedBatch::AddColumn(size_t c, Block& block, int from, int count, int& done) {
  done = 0;
  if (joined_[c].joining == Joining::kStack && block.columns[c].sliceable()) {
    Tensor run = TakeRun(block, c, from, count);
    return IsVariableLength(run.dtype()) ? AddStrings(c, std::move(run)) : AddRun(columns_[c], std::move(run));
  }
  if (IsRagged(joined_[c].joining) && block.columns[c].ragged()) {
    return AddRaggedRun(columns_[c], block.columns[c], from, count);
  }
  for (; done < count; ++done) {
    HEADRACE_RETURN_IF_ERROR(AddTo(c, block.columns[c].TakeRow(from + done), rows() + done));
  }
  return absl::OkStatus();
}

void StackedBatch::AddRows(Block& block, int from, int count) {
  if (memory_ != nullptr || block.batch_memory != nullptr) {
    for (int row = from; row < from + count; ++row) AddRow(block, row);
    return;
  }
  // The first row that does not fit is the error, whatever rows came with it.
  int good = failed_.ok() ? count : 0;
  for (size_t c = 0; c < columns_.size() && good > 0; ++c) {
    int done = 0;
    absl::Status status = AddColumn(c, block, from, count, done);
    if (status.ok() || done >= good) continue;
    good = done;
    failed_ = std::move(status);
    NameColumn(c, block, from + done);
  }
  AddIds(block, from, count);
}

absl::StatusOr<Tensor> StackedBatch::TakeColumn(size_t c) {
  GrowingColumn& column = columns_[c];
  if (IsRagged(joined_[c].joining)) return column.ragged.TakeValues();
  if (column.runs.size() == 1 && StandAlone(column.runs[0])) return std::move(column.runs[0]);
  if (!column.runs.empty()) return JoinRuns(column.runs);
  if (!column.rows.empty()) {
    return joined_[c].joining == Joining::kPad ? StackPadded(column.rows, joined_[c].padding, joined_[c].least)
                                               : StackStrings(column.rows);
  }
  if (column.whole.dim(0) == rows()) return column.whole;
  return column.whole.Slice(0, 0, rows());
}

absl::Status StackedBatch::JoinColumns(const BatchNumber& /*batch*/, Block& block) {
  HEADRACE_RETURN_IF_ERROR(std::exchange(failed_, absl::OkStatus()));
  for (size_t c = 0; c < columns_.size(); ++c) {
    HEADRACE_ASSIGN_OR_RETURN(Tensor whole, TakeColumn(c));
    block.columns.emplace_back(std::move(whole));
    if (!IsRagged(joined_[c].joining)) continue;
    HEADRACE_ASSIGN_OR_RETURN(Tensor splits, columns_[c].ragged.Splits());
    block.columns.emplace_back(std::move(splits));
  }
  return absl::OkStatus();
}

// The first row takes the memory of all rows, unless it is already in its slot; rows that wait are copied at the end,
// for all that is known before. How long the missing rows of a ragged column are is not known.
std::optional<int64_t> StackedBatch::expected_bytes() const {
  if (ids_.empty()) return std::nullopt;
  for (size_t c = 0; c < columns_.size(); ++c) {
    const Tensor& whole = columns_[c].whole;
    if (IsRagged(joined_[c].joining) || (whole.valid() && whole.dim(0) < size_)) return std::nullopt;
  }
  return waiting_bytes_;
}

void StackedBatch::ClearColumns() {
  columns_.clear();
  columns_.resize(joined_.size());
  memory_.reset();
  failed_ = absl::OkStatus();
  waiting_bytes_ = 0;
}

}  // namespace headrace
