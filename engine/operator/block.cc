#include "engine/operator/block.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "engine/operator/batch_memory.h"

namespace headrace {
namespace {

// Whether the row is a byte string in a block of a file: the rows around it are the rest.
bool IsPartOfBlock(const Tensor& row) {
  constexpr size_t kMostKept = 4;
  return IsVariableLength(row.dtype()) && row.rank() == 0 &&
         row.footprint() > kMostKept * row.bytes() + kBufferAlignment;
}

}  // namespace

BlockColumn BlockColumn::Stacked(Tensor rows) {
  BlockColumn column(std::move(rows));
  column.form_ = Form::kStack;
  return column;
}

BlockColumn BlockColumn::Ragged(Tensor values, Tensor splits) {
  BlockColumn column(std::move(values));
  column.tensors_.push_back(std::move(splits));
  column.form_ = Form::kRagged;
  return column;
}

int BlockColumn::rows() const {
  if (form_ == Form::kRows) return static_cast<int>(tensors_.size());
  return static_cast<int>(stacked() ? tensors_[0].dim(0) : tensors_[1].dim(0) - 1);
}

Tensor BlockColumn::ValuesOf(int from, int rows) const {
  const int64_t* const split = splits().data() + from;
  return values().Slice(0, split[0], split[rows] - split[0]);
}

// Gives each row a tensor of its own.
void BlockColumn::Separate() {
  if (form_ == Form::kRows) return;
  absl::InlinedVector<Tensor, 1> separate;
  const int count = rows();
  for (int i = 0; i < count; ++i) separate.push_back(RowOfWhole(i));
  tensors_ = std::move(separate);
  form_ = Form::kRows;
}

void BlockColumn::SetRow(int i, Tensor row) {
  Separate();
  tensors_[i] = std::move(row);
}

void BlockColumn::Append(Tensor row) {
  Separate();
  tensors_.push_back(std::move(row));
}

void BlockColumn::Truncate(int rows) {
  if (rows >= this->rows()) return;
  if (sliceable()) {
    tensors_[0] = tensors_[0].Slice(0, 0, rows);
    return;
  }
  if (ragged()) {
    tensors_[1] = tensors_[1].Slice(0, 0, rows + 1);
    return;
  }
  Separate();
  tensors_.resize(rows);
}

BlockColumn BlockColumn::TakeRows(int from, int rows) {
  if (sliceable()) return Stacked(tensors_[0].Slice(0, from, rows));
  if (ragged()) return Ragged(tensors_[0], tensors_[1].Slice(0, from, rows + 1));
  BlockColumn taken;
  for (int row = from; row < from + rows; ++row) taken.Append(TakeRow(row));
  return taken;
}

size_t BlockColumn::footprint() const {
  size_t bytes = 0;
  const Buffer* last = nullptr;
  for (const Tensor& tensor : tensors_) {
    if (IsPartOfBlock(tensor)) {
      bytes += tensor.bytes();
      continue;
    }
    if (!tensor.joined()) {
      bytes += tensor.buffer()->is_group() ? tensor.footprint() : tensor.bytes() + tensor.spans_bytes();
      continue;
    }
    // Counts a buffer once that rows which follow each other share.
    if (tensor.buffer().get() == nullptr || tensor.buffer().get() != last) bytes += tensor.footprint();
    last = tensor.buffer().get();
  }
  return bytes;
}

size_t BlockColumn::bytes() const {
  if (ragged()) return ValuesOf(0, rows()).bytes();
  size_t bytes = 0;
  for (const Tensor& tensor : tensors_) bytes += tensor.bytes();
  return bytes;
}

size_t Block::footprint() const {
  size_t bytes = sizeof(Block);
  if (batch_memory == nullptr || rows() != 1) {
    for (const BlockColumn& column : columns) bytes += column.footprint();
    return bytes;
  }
  // Counts of the batch's memory what the row fills.
  for (size_t c = 0; c < columns.size(); ++c) {
    const Tensor row = columns[c].row(0);
    bytes += batch_memory->Holds(c, row) ? row.bytes() : columns[c].footprint();
  }
  return bytes;
}

std::unique_ptr<Block> Block::TakeRest(int from) {
  auto taken = std::make_unique<Block>();
  taken->epoch = epoch;
  const int count = rows() - from;
  if (count > 0) {
    taken->ids.assign(ids.begin() + from, ids.end());
    for (int row = from; row < rows(); ++row) taken->provenances.Append(provenances, static_cast<size_t>(row));
    for (BlockColumn& column : columns) taken->columns.push_back(column.TakeRows(from, count));
  }
  taken->checkpoint = checkpoint;
  taken->end = end;
  taken->continues = continues;
  if (from == 0 || end == End::kError) taken->error = std::exchange(error, absl::OkStatus());
  if (cache_trail != nullptr) taken->cache_trail = std::make_unique<CacheTrail>();
  return taken;
}

void Block::Truncate(int rows) {
  if (rows >= this->rows()) return;
  ids.resize(rows);
  provenances.Truncate(static_cast<size_t>(rows));
  for (BlockColumn& column : columns) column.Truncate(rows);
  if (rows == 0 && end != End::kError && !error.ok()) error = absl::OkStatus();
}

void Block::Drop() {
  DropRows();
  removed.reset();
  if (end == End::kError) end = End::kNone;
  if (!error.ok()) error = absl::OkStatus();
}

void Block::Fail(int row, absl::Status status) {
  if (row < rows()) {
    AddErrorField(status, ErrorField::kFile, DescribeProvenance(provenances[row]));
    AddErrorField(status, ErrorField::kRow, DescribeRowId(ids[row]));
    failed = std::make_unique<FailedRow>(FailedRow{ids[row], provenances[row], {}});
  }
  if (row + 1 < rows() || end != End::kNone) rest = TakeRest(std::min(row + 1, rows()));
  Truncate(row);
  end = End::kError;
  error = std::move(status);
}

std::unique_ptr<Block> Block::TakeTombstone(bool more) {
  failed->error = std::move(error);
  std::unique_ptr<Block> tombstone = MakeTombstone(epoch, checkpoint, std::move(*failed));
  tombstone->continues = more || continues;
  failed.reset();
  end = End::kNone;
  error = absl::OkStatus();
  continues = true;
  return tombstone;
}

void Block::MarkRemoved() {
  if (removed == nullptr) removed = std::make_unique<std::vector<FailedRow>>();
  removed->push_back({ids[0], std::move(provenances[0]), std::exchange(error, absl::OkStatus())});
  DropRows();
}

void Block::TakeRemovedOf(Block& before) {
  if (before.removed == nullptr) return;
  std::unique_ptr<std::vector<FailedRow>> all = std::move(before.removed);
  if (removed != nullptr) std::move(removed->begin(), removed->end(), std::back_inserter(*all));
  removed = std::move(all);
}

Message TakeRow(Block& block, int row) {
  auto single = std::make_unique<Block>();
  single->epoch = block.epoch;
  single->ids.push_back(block.ids[row]);
  single->provenances.Append(block.provenances, static_cast<size_t>(row));
  for (BlockColumn& column : block.columns) single->columns.emplace_back(column.TakeRow(row));
  single->checkpoint = block.checkpoint;
  return single;
}

Message MakeEndOfEpoch(uint64_t epoch, Checkpoint checkpoint) {
  auto end = std::make_unique<Block>();
  end->epoch = epoch;
  end->checkpoint = std::move(checkpoint);
  end->end = End::kEpoch;
  return end;
}

Message MakeTombstone(uint64_t epoch, Checkpoint checkpoint, FailedRow row) {
  auto tombstone = std::make_unique<Block>();
  tombstone->epoch = epoch;
  tombstone->checkpoint = std::move(checkpoint);
  tombstone->ids.push_back(row.id);
  tombstone->provenances.push_back(std::move(row.provenance));
  tombstone->error = std::move(row.error);
  return tombstone;
}

Message MakeErrorMessage(uint64_t epoch, Checkpoint checkpoint, absl::Status error) {
  auto message = std::make_unique<Block>();
  message->epoch = epoch;
  message->checkpoint = std::move(checkpoint);
  message->end = End::kError;
  message->error = std::move(error);
  return message;
}

}  // namespace headrace
