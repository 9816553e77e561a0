// `BatchRows` collects the rows of a batch and joins them. Derived classes define how columns are joined: StackedBatch,
// or ListedBatch for a user function. The identities, the rows that fill in for others, and the marks are the same for
// all.
// Threads: one thread.
#ifndef HEADRACE_OPS_BATCH_BATCH_ROWS_H_
#define HEADRACE_OPS_BATCH_BATCH_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/operator/block.h"

namespace headrace {

// Which batch it is: the batches of an epoch are numbered from 0.
struct BatchNumber {
  uint64_t epoch = 0;
  uint64_t number = 0;
};

class BatchRows {
 public:
  virtual ~BatchRows() = default;

  // The rows of a full batch. For an empty one.
  virtual void SetSize(int size) = 0;
  // Takes `count` rows of the block, starting at row `from`, at most the number of missing rows. Take reports their
  // errors. A block of which an empty batch takes all rows has none afterwards: its rows() is 0.
  void Add(Block& block, int from, int count);
  // Puts a copy of another row, marked as padding, in the slot of one that failed: of the row before it, else of the
  // first one that comes.
  void AddFiller();
  // Joins the added rows into one row, or returns an error that names what is wrong. Empties the batch in either case.
  absl::StatusOr<Message> Take(const BatchNumber& batch, bool mark_padding);
  void Clear();

  int rows() const { return static_cast<int>(ids_.size()) + leading_; }
  // Whether there is no row to copy.
  bool fillers_alone() const { return ids_.empty() && leading_ > 0; }
  const RowId& first_id() const { return ids_[0]; }
  size_t held_bytes() const { return held_bytes_; }
  // The further bytes that the missing rows are expected to take; nullopt: not known.
  virtual std::optional<int64_t> expected_bytes() const { return std::nullopt; }

 protected:
  // Adds rows, as Add says, with their identities.
  virtual void AddRows(Block& block, int from, int count) = 0;
  // Adds the columns of the last row once more.
  virtual void RepeatColumns() = 0;
  // Puts the columns of the batch into the block, which has its identity.
  virtual absl::Status JoinColumns(const BatchNumber& batch, Block& block) = 0;
  virtual void ClearColumns() = 0;
  // Counts a row that waits after `before` of its column: rows of one message share its memory, which counts once.
  void Hold(const Tensor& row, const std::vector<Tensor>& before) {
    const bool shared = !before.empty() && row.buffer() && before.back().buffer().get() == row.buffer().get();
    held_bytes_ += shared ? (IsVariableLength(row.dtype()) ? row.bytes() : 0) : BlockColumn(row).footprint();
  }

  // Adds the identities of rows whose columns were taken: those of a whole block as they are, which it has no more
  // then.
  void AddIds(Block& block, int from, int count);

  RowArray<RowId> ids_;
  size_t held_bytes_ = 0;

 private:
  void RepeatLast();
  // Adds the first row, after the fillers that waited for it.
  void AddFirst(Block& block, int row);

  int leading_ = 0;  // fillers before the first row
  Provenance provenance_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_BATCH_BATCH_ROWS_H_
