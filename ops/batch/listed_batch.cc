#include "ops/batch/listed_batch.h"

#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/output_allocator.h"
#include "ops/rows/declared_types.h"
#include "ops/rows/separate_row.h"

namespace headrace {

absl::StatusOr<Tensor> BatchNumberInput::At(const BatchNumber& batch, size_t rows, size_t columns) const {
  HEADRACE_ASSIGN_OR_RETURN(Tensor input, Tensor::Allocate(DType::kUInt64, {5}));
  auto* const values = input.mutable_data<uint64_t>();
  values[0] = batch.number;
  values[1] = RowEpochOf(batch.epoch, epoch_cycle_);
  values[2] = rank_;
  values[3] = rows;
  values[4] = columns;
  return input;
}

void ListedBatch::AddTo(std::vector<Tensor>& column, Tensor row) {
  Hold(row, column);
  column.push_back(std::move(row));
}

void ListedBatch::AddRows(Block& block, int from, int count) {
  columns_.resize(block.columns.size());
  for (size_t c = 0; c < columns_.size(); ++c) {
    for (int row = from; row < from + count; ++row) {
      AddTo(columns_[c], SeparateRow(block.columns[c].TakeRow(row)));
    }
  }
  AddIds(block, from, count);
}

void ListedBatch::RepeatColumns() {
  for (std::vector<Tensor>& column : columns_) AddTo(column, Tensor(column.back()));
}

absl::StatusOr<std::vector<Tensor>> ListedBatch::InputsOf(const BatchNumber& batch) const {
  std::vector<std::string_view> names(names_.begin(), names_.end());
  for (const ir::Column& column : given_) names.emplace_back(column.name);
  std::vector<Tensor> inputs;
  inputs.reserve(2 + columns_.size() * ids_.size());
  HEADRACE_ASSIGN_OR_RETURN(inputs.emplace_back(), number_input_.At(batch, ids_.size(), columns_.size()));
  HEADRACE_ASSIGN_OR_RETURN(inputs.emplace_back(),
                            Tensor::CopyBytesArray(DType::kString, {static_cast<int64_t>(names.size())}, names));
  for (const std::vector<Tensor>& column : columns_) inputs.insert(inputs.end(), column.begin(), column.end());
  return inputs;
}

absl::Status ListedBatch::JoinColumns(const BatchNumber& batch, Block& block) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, InputsOf(batch));
  RowRandom random(RowRandom::KeyOf(stream_, first_id().epoch), first_id().key);
  OutputAllocator output;
  HEADRACE_ASSIGN_OR_RETURN(std::vector<Tensor> given, function_->Call(inputs, draws_ ? &random : nullptr, output));
  if (given.size() != given_.size()) {
    return GraphError("its function gave ", given.size(), " values for ", given_.size(), " columns");
  }
  HEADRACE_RETURN_IF_ERROR(CheckDeclared(given_, given));
  for (Tensor& column : given) block.columns.emplace_back(std::move(column));
  return absl::OkStatus();
}

}  // namespace headrace
