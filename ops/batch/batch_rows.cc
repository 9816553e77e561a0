#include "ops/batch/batch_rows.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/tensor.h"

namespace headrace {

void BatchRows::Add(Block& block, int from, int count) {
  if (ids_.empty()) provenance_ = block.provenances[from];
  if (leading_ > 0) {
    AddFirst(block, from++);
    if (--count == 0) return;
  }
  AddRows(block, from, count);
}

void BatchRows::AddFirst(Block& block, int row) {
  const int fillers = std::exchange(leading_, 0);
  AddRows(block, row, 1);
  for (int i = 0; i < fillers; ++i) RepeatLast();
  std::swap(ids_.front(), ids_.back());
}

void BatchRows::AddIds(Block& block, int from, int count) {
  if (ids_.empty() && count == block.rows()) {
    ids_ = std::exchange(block.ids, {});
  } else {
    ids_.insert(ids_.end(), block.ids.begin() + from, block.ids.begin() + from + count);
  }
}

void BatchRows::RepeatLast() {
  RepeatColumns();
  ids_.push_back(ids_.back());
  ids_.back().pad = true;
}

void BatchRows::AddFiller() {
  if (ids_.empty()) {
    ++leading_;
  } else {
    RepeatLast();
  }
}

absl::StatusOr<Message> BatchRows::Take(const BatchNumber& batch, bool mark_padding) {
  auto block = std::make_unique<Block>();
  block->epoch = batch.epoch;
  block->ids.push_back(ids_[0]);
  block->ids[0].pad = false;
  block->ids[0].changed = std::any_of(ids_.begin(), ids_.end(), [](const RowId& id) { return id.changed; });
  block->provenances.push_back(std::move(provenance_));
  absl::Status status = JoinColumns(batch, *block);
  if (status.ok() && mark_padding) {
    absl::StatusOr<Tensor> marks = Tensor::Allocate(DType::kBool, {rows()});
    status = marks.status();
    if (marks.ok()) {
      for (int i = 0; i < rows(); ++i) marks->mutable_data<bool>()[i] = ids_[i].pad;
      block->columns.emplace_back(*std::move(marks));
    }
  }
  Clear();
  if (!status.ok()) return status;
  return block;
}

void BatchRows::Clear() {
  ClearColumns();
  ids_.clear();
  leading_ = 0;
  provenance_ = {};
  held_bytes_ = 0;
}

}  // namespace headrace
