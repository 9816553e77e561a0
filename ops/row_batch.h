// Collects the rows of a batch. Each row is copied into its batch slot when it arrives, so that its own memory is freed
// at once; rows that were written into their slot stay there. Rows that are padded, or of variable length, wait until
// the batch is full.
// Thread contract: one thread.
#ifndef HEADRACE_OPS_ROW_BATCH_H_
#define HEADRACE_OPS_ROW_BATCH_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/operator/block.h"
#include "ir/attributes.h"

namespace headrace {

class RowBatch {
 public:
  // `padding`: the value that pads rows to the largest of the batch; nullopt: rows must agree.
  RowBatch(int size, std::vector<std::string> names, std::optional<ir::Number> padding)
      : size_(size), names_(std::move(names)), padding_(padding) {}

  // Takes `count` rows of the block, starting at row `from`, at most the number of missing rows. Take reports their
  // errors.
  void Add(Block& block, int from, int count);
  // Puts a copy of another row, marked as padding, in the place of one that failed: of the row before it, else of the
  // first one that comes.
  void AddFiller();
  // Joins the added rows into one row, or returns an error that names the column and both shapes. Empties the batch in
  // either case.
  absl::StatusOr<Message> Take(uint64_t epoch, bool mark_padding);
  void Clear();

  int rows() const { return static_cast<int>(ids_.size()) + leading_; }
  // Whether there is no row to copy.
  bool fillers_alone() const { return ids_.empty() && leading_ > 0; }
  const RowId& first_id() const { return ids_[0]; }
  size_t held_bytes() const { return held_bytes_; }
  // The further bytes that the missing rows are expected to take; nullopt: not known.
  std::optional<int64_t> expected_bytes() const;
  bool pads() const { return padding_.has_value(); }

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
  void RepeatLast();
  // Adds the first row, behind the fillers that waited for it.
  void AddFirst(Block& block, int row);
  void NameColumn(size_t column, const Provenance& provenance);
  // Checks that `more` rows like `row` match the rows before them, and makes room.
  absl::Status Fit(GrowingColumn& column, const Tensor& row, int64_t more);
  absl::Status Grow(GrowingColumn& column, const Tensor& row, int64_t more);
  absl::StatusOr<Tensor> TakeColumn(GrowingColumn& column);

  const int size_;
  const std::vector<std::string> names_;
  const std::optional<ir::Number> padding_;
  std::vector<GrowingColumn> columns_;
  std::shared_ptr<BatchMemory> memory_;  // the memory of the rows so far; null: the batch's own
  std::vector<RowId> ids_;
  int leading_ = 0;  // fillers before the first row
  Provenance provenance_;
  absl::Status failed_;
  size_t held_bytes_ = 0;
  int64_t waiting_bytes_ = 0;  // of rows that wait
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ROW_BATCH_H_
