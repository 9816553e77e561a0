// `StackedBatch` is a batch whose rows are stacked along a new first axis. Each row is copied into its batch slot when
// it arrives, so that its own memory is freed at once; rows that were written into their slot stay there. Rows that are
// padded, or of variable length, wait until the batch is full; long byte strings then become part of it where they are
// (GatherStrings). Ragged columns are joined as RaggedRows says.
// Threads: one thread.
#ifndef HEADRACE_OPS_BATCH_STACKED_BATCH_H_
#define HEADRACE_OPS_BATCH_STACKED_BATCH_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/operator/block.h"
#include "ops/batch/batch_columns.h"
#include "ops/batch/batch_rows.h"
#include "ops/batch/ragged_rows.h"

namespace headrace {

class StackedBatch : public BatchRows {
 public:
  // Rows that must agree and do not are an error that names the column and both shapes.
  StackedBatch(int size, std::vector<BatchColumn> columns)
      : size_(size), joined_(std::move(columns)), columns_(joined_.size()) {}

  void SetSize(int size) override { size_ = size; }
  std::optional<int64_t> expected_bytes() const override;

 protected:
  void AddRows(Block& block, int from, int count) override;
  void RepeatColumns() override;
  absl::Status JoinColumns(const BatchNumber& batch, Block& block) override;
  void ClearColumns() override;
  // The least length that the first axis of a padded column is padded to, from the next batch on that is joined.
  void PadTo(size_t column, int64_t least) { joined_[column].least = least; }

 private:
  struct GrowingColumn {
    Tensor whole;              // (capacity, …), being filled
    std::vector<Tensor> rows;  // the rows that wait
    std::vector<Tensor> runs;  // or arrays of byte strings, each of several rows, that wait
    RaggedRows ragged;         // or the rows of a ragged column
  };
  // Continues in the memory promised to the rows, as long as they arrive as promised.
  absl::Status FollowSlots(const Block& block);
  absl::Status LeaveMemory();
  // Adds row `at` of the batch.
  absl::Status AddTo(size_t c, Tensor row, int64_t at);
  absl::Status AddRagged(GrowingColumn& column, const Tensor& row);
  // Adds rows of a ragged column by one copy.
  absl::Status AddRaggedRun(GrowingColumn& column, const BlockColumn& rows, int from, int count);
  // Adds contiguous rows of fixed size by one copy, or, if they are all rows of the batch and its alone, as they are.
  absl::Status AddRun(GrowingColumn& column, Tensor rows);
  // Adds an array of byte strings that waits as one.
  absl::Status AddStrings(size_t c, Tensor rows);
  // Adds rows of one column, in order; `done` counts those that were added.
  absl::Status AddColumn(size_t c, Block& block, int from, int count, int& done);
  void AddRow(Block& block, int row);
  Tensor LastRow(size_t c) const;
  void NameColumn(size_t column, const Block& block, int row);
  // Checks that `more` rows like `row` match the `filled` rows before them, and makes room.
  absl::Status Fit(GrowingColumn& column, const Tensor& row, int64_t filled, int64_t more);
  absl::Status Grow(GrowingColumn& column, const Tensor& row, int64_t filled, int64_t more);
  absl::StatusOr<Tensor> TakeColumn(size_t c);

  int size_;
  std::vector<BatchColumn> joined_;
  std::vector<GrowingColumn> columns_;   // as many
  std::shared_ptr<BatchMemory> memory_;  // the memory of the rows so far; null: the batch's own
  absl::Status failed_;
  int64_t waiting_bytes_ = 0;  // of rows that wait
};

}  // namespace headrace

#endif  // HEADRACE_OPS_BATCH_STACKED_BATCH_H_
