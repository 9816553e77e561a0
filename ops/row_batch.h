// Rows on their way into a batch: each is copied to its slot as it comes, so that its own memory goes back at once;
// those that were written into their slot already stay there. Rows that are padded, or of variable length, wait until
// the batch is full. Thread contract: one thread.
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
  // `padding`: what rows are padded with to the largest in the batch; nullopt: rows must agree.
  RowBatch(int size, std::vector<std::string> names, std::optional<ir::Number> padding)
      : size_(size), names_(std::move(names)), padding_(padding) {}

  // Takes `count` rows from row `from` on out of the block, no more than are lacking. What is wrong with them Take
  // says.
  void Add(Block& block, int from, int count);
  // One row made of those added, or an error that names the column and both shapes. Empties the batch either way.
  absl::StatusOr<Message> Take(uint64_t epoch, bool mark_padding);
  void Clear();

  int rows() const { return static_cast<int>(ids_.size()); }
  const RowId& first_id() const { return ids_[0]; }
  size_t held_bytes() const { return held_bytes_; }
  // Bytes that more rows are expected to take besides; nullopt: nothing tells.
  std::optional<int64_t> expected_bytes() const;
  bool pads() const { return padding_.has_value(); }

 private:
  struct GrowingColumn {
    Tensor whole;              // (capacity, …), being filled
    std::vector<Tensor> rows;  // those that wait
  };
  // Goes on in the memory that the rows were promised, as long as they come as promised.
  absl::Status FollowPlaces(const Block& block);
  absl::Status LeaveMemory();
  absl::Status AddTo(GrowingColumn& column, Tensor row);
  // Rows of a column in one piece, of fixed size, by one copy.
  absl::Status AddRun(GrowingColumn& column, const Tensor& rows);
  void AddRow(Block& block, int row);
  void NameColumn(size_t column, const Provenance& provenance);
  // Sees that `more` rows like `row` go with those there, and have room.
  absl::Status Fit(GrowingColumn& column, const Tensor& row, int64_t more);
  absl::Status Grow(GrowingColumn& column, const Tensor& row, int64_t more);
  absl::StatusOr<Tensor> TakeColumn(GrowingColumn& column);

  const int size_;
  const std::vector<std::string> names_;
  const std::optional<ir::Number> padding_;
  std::vector<GrowingColumn> columns_;
  std::shared_ptr<BatchMemory> memory_;  // in which the rows so far lie; null: in the batch's own
  std::vector<RowId> ids_;
  Provenance origin_;
  absl::Status failed_;
  size_t held_bytes_ = 0;
  int64_t waiting_bytes_ = 0;  // of rows that wait
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ROW_BATCH_H_
