// `BatchOperator` joins rows to batches, whatever a batch is made of (BatchRows) and however its size is chosen
// (BatchSizes): it cuts messages at the borders of batches, fills in for rows that failed, and counts for checkpoints.
// Threads: as StreamOperator's.
#ifndef HEADRACE_OPS_BATCH_BATCH_OPERATOR_H_
#define HEADRACE_OPS_BATCH_BATCH_OPERATOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/operator.h"
#include "ops/batch/batch_rows.h"

namespace headrace {

// Chooses the size of each batch.
class BatchSizes {
 public:
  virtual ~BatchSizes() = default;
  // At least 1; depends only on the epoch and batch number.
  virtual absl::StatusOr<int> SizeOf(const BatchNumber& batch) = 0;
};

// The most rows of a batch.
inline constexpr int64_t kMostBatchRows = int64_t{1} << 30;

class BatchOperator : public StreamOperator {
 public:
  enum class Numbered : bool { kNo, kYes };
  // Whether runs of its input may have fewer rows than positions (OperatorProperties::uneven_runs).
  enum class Runs : bool { kFull, kUneven };
  // `sizes`: null if all batches have `size` rows. With `numbered`, its first checkpoint counter is the number of the
  // next batch, as BatchNumber has it; the last one counts the rows used of the message after the checkpoint.
  BatchOperator(const OpArguments& arguments, int size, std::unique_ptr<BatchRows> batch, Numbered numbered,
                std::unique_ptr<BatchSizes> sizes = nullptr, Runs runs = Runs::kFull);

  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override;
  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) override;
  void Receive(int input, Message message, Outbox& out) override;
  // A batch that is numbered is given before the next one is begun: what makes it may wait until it was received.
  bool has_pending_output() const override { return message_ != nullptr; }
  void Continue(Outbox& out) override;
  void Finish(uint64_t epoch) override;
  size_t held_bytes() const override { return batch_->held_bytes(); }
  std::optional<int64_t> expected_bytes() const override { return batch_->expected_bytes(); }

 private:
  // Uses rows of the message; false: a batch was given, and rows are left.
  bool Advance(Outbox& out);
  void EndMessage(Block& message, Outbox& out);
  void Replace(Block& tombstone, Outbox& out);
  bool TakesRows(Outbox& out);
  // Whether the batch was full, and given.
  bool GiveFull(Outbox& out);
  // Gives the batch if its run has no more rows.
  void EndRun(Outbox& out);
  void PassOnRemoved(Block& block, Outbox& out) const;
  void MoveCheckpoint(const Block& block);
  // Begins where the range of the epoch does, if the run makes ranges of batches.
  void StartRange();
  Checkpoint CheckpointNow() const;
  BatchNumber batch_number() const { return {run_ == nullptr ? epoch_ : run_->DataEpoch(epoch_), number_}; }
  void GiveBatch(Outbox& out);
  void GiveError(absl::Status error, Outbox& out);
  void EndEpoch(uint64_t epoch, Outbox& out);
  void EndBatch();
  void Clear();

  const RunOptions* const run_;  // null: it runs whole epochs
  int size_;                     // of the batch being filled; 0: not chosen yet
  const std::unique_ptr<BatchRows> batch_;
  const std::unique_ptr<BatchSizes> sizes_;
  const bool numbered_;
  const bool drop_remainder_;
  const bool mark_padding_;
  const bool keeps_runs_;  // runs are never mixed in one batch
  const Runs runs_;
  Message message_;    // being used; null between messages
  int row_ = 0;        // its next row
  int lost_ = 0;       // slots of the batch whose rows failed
  Checkpoint before_;  // after the message before the current one
  uint64_t used_ = 0;  // rows used of the current message
  uint64_t skip_ = 0;  // rows used before a restart
  uint64_t epoch_ = 0;
  uint64_t number_ = 0;    // of the batch being filled
  bool in_range_ = false;  // StartRange was called in this epoch
  bool failed_ = false;
  bool had_rows_ = false;  // that did not fail, in this epoch
  absl::Status last_failed_;
};

// The number of batches of a size.
Cardinality BatchesOf(const Cardinality& rows, int64_t size, bool drop_remainder);

// The static batch dimension: `size` if every batch has exactly that many rows, else ir::kUnknownDim.
int64_t KnownBatchRows(int64_t size, bool drop_remainder);
// Adds the column that marks rows which repeat others.
void AddPaddingMarks(int64_t rows, ir::Schema& schema);

// Set by the engine where a batch is to mark rows that repeat others.
ir::Attribute MarkPaddingAttribute();
// The attributes given, then those of every batch.
std::vector<ir::Attribute> BatchAttributes(std::vector<ir::Attribute> attributes);

}  // namespace headrace

#endif  // HEADRACE_OPS_BATCH_BATCH_OPERATOR_H_
