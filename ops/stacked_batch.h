// A batch whose rows are stacked along a new first axis. Each row is copied into its batch slot when it arrives, so
// that its own memory is freed at once; rows that were written into their slot stay there. Rows that are padded, or of
// variable length, wait until the batch is full.
// Thread contract: one thread.
#ifndef HEADRACE_OPS_STACKED_BATCH_H_
#define HEADRACE_OPS_STACKED_BATCH_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/operator/block.h"
#include "ir/attributes.h"
#include "ops/batch_rows.h"

namespace headrace {

class StackedBatch : public BatchRows {
 public:
  // `padding`: the value that pads rows to the largest of the batch; nullopt: rows must agree, else the error names the
  // column and both shapes. `least`: for each column the least length that its first axis is padded to; empty: 0.
  StackedBatch(int size, std::vector<std::string> names, std::optional<ir::Number> padding,
               std::vector<int64_t> least = {})
      : size_(size), names_(std::move(names)), padding_(padding), least_(std::move(least)) {}

  void SetSize(int size) override { size_ = size; }
  std::optional<int64_t> expected_bytes() const override;

 protected:
  void AddRows(Block& block, int from, int count) override;
  void RepeatColumns() override;
  absl::Status JoinColumns(const BatchNumber& batch, Block& block) override;
  void ClearColumns() override;

 private:
  struct GrowingColumn {
    Tensor whole;              // (capacity, …), being filled
    std::vector<Tensor> rows;  // the rows that wait
    std::vector<Tensor> runs;  // or arrays of byte strings, each of several rows, that wait
  };
  // Continues in the memory promised to the rows, as long as they arrive as promised.
  absl::Status FollowSlots(const Block& block);
  absl::Status LeaveMemory();
  absl::Status AddTo(GrowingColumn& column, Tensor row);
  // Adds contiguous rows of fixed size by one copy.
  absl::Status AddRun(GrowingColumn& column, const Tensor& rows);
  // Adds an array of byte strings that waits as one.
  absl::Status AddStrings(GrowingColumn& column, Tensor rows);
  void AddRow(Block& block, int row);
  Tensor LastRow(const GrowingColumn& column) const;
  void NameColumn(size_t column, const Provenance& provenance);
  // Checks that `more` rows like `row` match the rows before them, and makes room.
  absl::Status Fit(GrowingColumn& column, const Tensor& row, int64_t more);
  absl::Status Grow(GrowingColumn& column, const Tensor& row, int64_t more);
  absl::StatusOr<Tensor> TakeColumn(size_t number);

  int size_;
  const std::vector<std::string> names_;
  const std::optional<ir::Number> padding_;
  const std::vector<int64_t> least_;
  std::vector<GrowingColumn> columns_;
  std::shared_ptr<BatchMemory> memory_;  // the memory of the rows so far; null: the batch's own
  absl::Status failed_;
  int64_t waiting_bytes_ = 0;  // of rows that wait
};

}  // namespace headrace

#endif  // HEADRACE_OPS_STACKED_BATCH_H_
