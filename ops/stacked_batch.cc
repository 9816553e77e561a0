#include "ops/stacked_batch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "engine/operator/batch_memory.h"
#include "ops/padding.h"

namespace headrace {
namespace {

// Batches up to this size get their memory at once; larger ones grow, because the epoch may end before they are full.
constexpr size_t kAtOnceBytes = size_t{256} << 20;
constexpr size_t kFirstBytes = size_t{16} << 10;

bool SameType(const Tensor& whole, const Tensor& row) {
  return whole.dtype() == row.dtype() && whole.rank() == row.rank() + 1 &&
         std::equal(row.shape().begin(), row.shape().end(), whole.shape().begin() + 1);
}

absl::Status Ragged(const Tensor& first, const Tensor& row) {
  return GraphError("rows of a batch differ: ", first.TypeName(), " and ", row.TypeName(), "; ",
                    first.dtype() != row.dtype() ? "convert them to one dtype (TypeCast)"
                                                 : "make them alike (Resize, PadEnd), or use batch(pad=True)");
}

// Rows of a sliceable column, out of the block if they are all of its rows.
Tensor TakeRun(Block& block, size_t column, int from, int count) {
  if (count < block.rows()) return block.columns[column].stack().Slice(0, from, count);
  return std::exchange(block.columns[column], BlockColumn()).stack();
}

// Whether strings can become the batch as they are: nobody else has them, and they fill their memory.
bool StandAlone(const Tensor& strings) {
  if (!strings.joined()) return false;
  const size_t used = strings.bytes() + strings.ends().size() * sizeof(int64_t);
  return strings.buffer().unique() && strings.footprint() <= 2 * used;
}

}  // namespace

absl::Status StackedBatch::Grow(GrowingColumn& column, const Tensor& row, int64_t more) {
  const int64_t filled = rows();
  const size_t row_bytes = std::max<size_t>(1, row.bytes());
  int64_t capacity = size_;
  if (static_cast<size_t>(size_) > kAtOnceBytes / row_bytes) {
    capacity =
        std::min(capacity, std::max({filled * 2, filled + more, static_cast<int64_t>(kFirstBytes / row_bytes) + 1}));
  }
  Shape shape = row.shape();
  shape.insert(shape.begin(), capacity);
  HEADRACE_ASSIGN_OR_RETURN(Tensor whole, Tensor::Allocate(row.dtype(), shape));
  if (filled > 0) std::memcpy(whole.mutable_raw(), column.whole.raw(), static_cast<size_t>(filled) * row.bytes());
  held_bytes_ += whole.footprint() - (column.whole.valid() ? column.whole.footprint() : 0);
  column.whole = std::move(whole);
  return absl::OkStatus();
}

absl::Status StackedBatch::Fit(GrowingColumn& column, const Tensor& row, int64_t more) {
  if (column.whole.valid() && !SameType(column.whole, row)) return Ragged(column.whole.Index(0), row);
  if (!column.rows.empty()) return Ragged(column.rows[0], row);
  if (!column.runs.empty()) return Ragged(column.runs[0].Index(0), row);
  return column.whole.valid() && column.whole.dim(0) >= rows() + more ? absl::OkStatus() : Grow(column, row, more);
}

absl::Status StackedBatch::AddTo(GrowingColumn& column, Tensor row) {
  for (const Tensor& run : std::exchange(column.runs, {})) {
    for (int64_t i = 0; i < run.dim(0); ++i) column.rows.push_back(run.Index(i));
  }
  if (padding_.has_value() || IsVariableLength(row.dtype())) {
    if (column.whole.valid()) return Ragged(column.whole.Index(0), row);
    if (!column.rows.empty() && column.rows[0].dtype() != row.dtype()) return Ragged(column.rows[0], row);
    if (!padding_.has_value() && !column.rows.empty() && column.rows[0].shape() != row.shape()) {
      return Ragged(column.rows[0], row);
    }
    Hold(row, column.rows);
    waiting_bytes_ += static_cast<int64_t>(row.bytes());
    column.rows.push_back(std::move(row));
    return absl::OkStatus();
  }
  HEADRACE_RETURN_IF_ERROR(Fit(column, row, 1));
  uint8_t* const target = column.whole.mutable_raw() + static_cast<size_t>(rows()) * row.bytes();
  if (row.raw() != target) row.CopyTo(target);
  return absl::OkStatus();
}

absl::Status StackedBatch::FollowSlots(const Block& block) {
  if (ids_.empty() && block.batch_memory != nullptr && block.batch_slot == 0 && block.rows() == 1) {
    memory_ = block.batch_memory;
    for (size_t c = 0; c < columns_.size(); ++c) {
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
    const Tensor left = std::move(column.whole);
    HEADRACE_ASSIGN_OR_RETURN(column.whole, Tensor::Allocate(left.dtype(), left.shape()));
    std::memcpy(column.whole.mutable_raw(), left.raw(), left.Slice(0, 0, rows()).bytes());
  }
  return absl::OkStatus();
}

absl::Status StackedBatch::AddRun(GrowingColumn& column, const Tensor& rows) {
  const Tensor first = rows.Index(0);
  HEADRACE_RETURN_IF_ERROR(Fit(column, first, rows.dim(0)));
  std::memcpy(column.whole.mutable_raw() + static_cast<size_t>(this->rows()) * first.bytes(), rows.raw(), rows.bytes());
  return absl::OkStatus();
}

absl::Status StackedBatch::AddStrings(GrowingColumn& column, Tensor rows) {
  if (column.whole.valid() || !column.rows.empty()) {
    for (int64_t i = 0; i < rows.dim(0); ++i) HEADRACE_RETURN_IF_ERROR(AddTo(column, rows.Index(i)));
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

void StackedBatch::NameColumn(size_t column, const Provenance& provenance) {
  if (column < names_.size()) {
    failed_ = absl::Status(failed_.code(), Cat("column \"", names_[column], "\": ", ToStd(failed_.message())));
  }
  AddErrorField(failed_, ErrorField::kFile, DescribeProvenance(provenance));
}

void StackedBatch::AddRow(Block& block, int row) {
  if (failed_.ok()) failed_ = FollowSlots(block);
  for (size_t c = 0; c < columns_.size() && failed_.ok(); ++c) {
    failed_ = AddTo(columns_[c], block.columns[c].TakeRow(row));
    if (!failed_.ok()) NameColumn(c, block.provenances[row]);
  }
  ids_.push_back(block.ids[row]);
}

Tensor StackedBatch::LastRow(const GrowingColumn& column) const {
  if (!column.rows.empty()) return column.rows.back();
  if (column.runs.empty()) return column.whole.Index(rows() - 1);
  const Tensor& run = column.runs.back();
  return run.Index(run.dim(0) - 1);
}

void StackedBatch::RepeatColumns() {
  // Its memory may be the slot of a row that is being made.
  if (failed_.ok() && memory_ != nullptr) failed_ = LeaveMemory();
  for (GrowingColumn& column : columns_) {
    if (failed_.ok()) failed_ = AddTo(column, LastRow(column));
  }
}

void StackedBatch::AddRows(Block& block, int from, int count) {
  if (columns_.empty()) columns_.resize(block.columns.size());
  const auto in_runs = [](const BlockColumn& column) { return column.sliceable(); };
  const bool whole = memory_ == nullptr && !padding_.has_value() && block.batch_memory == nullptr &&
                     std::all_of(block.columns.begin(), block.columns.end(), in_runs);
  if (!whole) {
    for (int row = from; row < from + count; ++row) AddRow(block, row);
    return;
  }
  for (size_t c = 0; c < columns_.size() && failed_.ok(); ++c) {
    Tensor run = TakeRun(block, c, from, count);
    failed_ = IsVariableLength(run.dtype()) ? AddStrings(columns_[c], std::move(run)) : AddRun(columns_[c], run);
    if (!failed_.ok()) NameColumn(c, block.provenances[from]);
  }
  ids_.insert(ids_.end(), block.ids.begin() + from, block.ids.begin() + from + count);
}

absl::StatusOr<Tensor> StackedBatch::TakeColumn(size_t number) {
  GrowingColumn& column = columns_[number];
  if (column.runs.size() == 1 && StandAlone(column.runs[0])) return std::move(column.runs[0]);
  if (!column.runs.empty()) return JoinStrings(column.runs);
  const int64_t least = least_.empty() ? 0 : least_[number];
  if (!column.rows.empty()) {
    return padding_.has_value() ? StackPadded(column.rows, *padding_, least) : Stack(column.rows);
  }
  if (column.whole.dim(0) == rows()) return std::move(column.whole);
  return column.whole.Slice(0, 0, rows());
}

absl::Status StackedBatch::JoinColumns(const BatchNumber& /*batch*/, Block& block) {
  HEADRACE_RETURN_IF_ERROR(std::exchange(failed_, absl::OkStatus()));
  for (size_t c = 0; c < columns_.size(); ++c) {
    HEADRACE_ASSIGN_OR_RETURN(Tensor whole, TakeColumn(c));
    block.columns.emplace_back(std::move(whole));
  }
  return absl::OkStatus();
}

// The first row takes the memory of all rows, unless it is already in its slot; rows that wait are copied at the end.
std::optional<int64_t> StackedBatch::expected_bytes() const {
  const auto grows = [this](const GrowingColumn& column) {
    return column.whole.valid() && column.whole.dim(0) < size_;
  };
  if (ids_.empty() || std::any_of(columns_.begin(), columns_.end(), grows)) return std::nullopt;
  return waiting_bytes_;
}

void StackedBatch::ClearColumns() {
  columns_.clear();
  memory_.reset();
  failed_ = absl::OkStatus();
  waiting_bytes_ = 0;
}

}  // namespace headrace
