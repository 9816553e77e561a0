#include "engine/block.h"

#include <algorithm>

#include "core/error.h"
#include "engine/batch_memory.h"

namespace headrace {

Column Column::Stacked(Tensor rows) {
  Column column(std::move(rows));
  column.stacked_ = true;
  return column;
}

void Column::Unstack() {
  if (!stacked_) return;
  const Tensor stack = std::move(tensors_[0]);
  tensors_.clear();
  for (int64_t i = 0; i < stack.dim(0); ++i) tensors_.push_back(stack.Index(i));
  stacked_ = false;
}

void Column::SetRow(int i, Tensor row) {
  Unstack();
  tensors_[i] = std::move(row);
}

void Column::Append(Tensor row) {
  Unstack();
  tensors_.push_back(std::move(row));
}

void Column::Truncate(int rows) {
  if (rows >= this->rows()) return;
  if (in_runs()) {
    tensors_[0] = tensors_[0].Slice(0, 0, rows);
    return;
  }
  Unstack();
  tensors_.resize(rows);
}

Column Column::TakeRows(int from, int rows) {
  if (in_runs()) return Stacked(tensors_[0].Slice(0, from, rows));
  Column taken;
  for (int row = from; row < from + rows; ++row) taken.Append(TakeRow(row));
  return taken;
}

size_t Column::footprint() const {
  size_t bytes = 0;
  for (const Tensor& tensor : tensors_) bytes += tensor.footprint();
  return bytes;
}

size_t Block::footprint() const {
  size_t bytes = sizeof(Block);
  if (memory == nullptr || rows() != 1) {
    for (const Column& column : columns) bytes += column.footprint();
    return bytes;
  }
  // Counts of the batch's memory what the row fills.
  for (size_t c = 0; c < columns.size(); ++c) {
    const Tensor row = columns[c].row(0);
    bytes += memory->Holds(c, row) ? row.bytes() : columns[c].footprint();
  }
  return bytes;
}

std::unique_ptr<Block> Block::TakeRest(int from) {
  auto taken = std::make_unique<Block>();
  taken->epoch = epoch;
  const int count = rows() - from;
  if (count > 0) {
    taken->ids.assign(ids.begin() + from, ids.end());
    taken->origins.assign(origins.begin() + from, origins.end());
    for (Column& column : columns) taken->columns.push_back(column.TakeRows(from, count));
  }
  taken->stamps = stamps;
  taken->end = end;
  taken->error = std::move(error);
  taken->timed = timed;
  return taken;
}

void Block::Truncate(int rows) {
  if (rows >= this->rows()) return;
  ids.resize(rows);
  origins.resize(rows);
  for (Column& column : columns) column.Truncate(rows);
}

void Block::Fail(int row, absl::Status status) {
  if (row < rows()) {
    AddErrorField(status, ErrorField::kFile, DescribeProvenance(origins[row]));
    AddErrorField(status, ErrorField::kRow, DescribeRowId(ids[row]));
  }
  if (row + 1 < rows() || end != End::kNone) rest = TakeRest(std::min(row + 1, rows()));
  Truncate(row);
  end = End::kError;
  error = std::move(status);
}

Message TakeRow(Block& block, int row) {
  auto single = std::make_unique<Block>();
  single->epoch = block.epoch;
  single->ids.push_back(block.ids[row]);
  single->origins.push_back(std::move(block.origins[row]));
  for (Column& column : block.columns) single->columns.emplace_back(column.TakeRow(row));
  single->stamps = block.stamps;
  return single;
}

Message MakeMark(uint64_t epoch, Stamps stamps) {
  auto mark = std::make_unique<Block>();
  mark->epoch = epoch;
  mark->stamps = std::move(stamps);
  mark->end = End::kEpoch;
  return mark;
}

Message MakeErrorMessage(uint64_t epoch, Stamps stamps, absl::Status error) {
  auto message = std::make_unique<Block>();
  message->epoch = epoch;
  message->stamps = std::move(stamps);
  message->end = End::kError;
  message->error = std::move(error);
  return message;
}

}  // namespace headrace
