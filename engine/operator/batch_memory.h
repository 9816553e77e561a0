// `BatchMemory` is the memory of one batch, allocated before its rows are made, so that each can be written into its
// slot. Counting predicts which rows meet in a batch; the batch operator checks each slot and copies a row that is not
// in its slot.
// Threads: SlotOf from any thread, each slot once; the contents are read after the row was handed over.
#ifndef HEADRACE_ENGINE_OPERATOR_BATCH_MEMORY_H_
#define HEADRACE_ENGINE_OPERATOR_BATCH_MEMORY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/tensor.h"
#include "engine/operator/epoch_range.h"
#include "ir/type.h"

namespace headrace {

// The pool of the memory, and the account that it is charged to.
struct MemorySource {
  BufferPool* pool;
  MemoryAccount* account;
};

class BatchMemory {
 public:
  // For `rows` rows of the given types; columns whose type is not fully known have no slots. `reserved`: bytes already
  // reserved for it in the pipeline's account.
  BatchMemory(MemorySource source, int64_t rows, std::shared_ptr<const std::vector<ir::ColumnType>> types,
              int64_t reserved)
      : source_(source), rows_(rows), reserved_(reserved), types_(std::move(types)), columns_(types_->size()) {}
  ~BatchMemory();
  BatchMemory(const BatchMemory&) = delete;

  // The slot of the row's column; an invalid tensor if there is none. Allocates the memory for all rows at the first
  // call.
  Tensor SlotOf(int column, int64_t row);
  // (rows, …), uninitialised where no row was written; invalid if the column has no slots, or none was requested.
  const Tensor& whole(size_t column) const { return columns_[column]; }
  // Whether the tensor lies in the column.
  bool Holds(size_t column, const Tensor& row) const {
    return column < columns_.size() && columns_[column].valid() &&
           columns_[column].buffer().get() == row.buffer().get();
  }

 private:
  void Take();

  const MemorySource source_;
  const int64_t rows_;
  int64_t reserved_;  // until it is taken
  const std::shared_ptr<const std::vector<ir::ColumnType>> types_;
  std::once_flag taken_;
  std::vector<Tensor> columns_;
};

// Assigns slots to rows in their order.
class BatchSlots {
 public:
  // `skipped`: the first rows, which were used before a restart. `epochs`: the batches' own; `last_epoch`: the last
  // epoch of the rows that belongs to one of those.
  BatchSlots(MemorySource source, int64_t rows, std::vector<ir::ColumnType> types, int64_t skipped, EpochRange epochs,
             std::function<uint64_t(uint64_t epoch)> last_epoch);
  ~BatchSlots() { source_.account->Charge(-kept_); }

  // Bytes of the batches that so many more rows begin, less those kept.
  int64_t BytesBegunBy(int rows) const;
  // Tells that the account already holds so many bytes for future batches.
  void Keep(int64_t bytes) { kept_ += bytes; }

  // The slot of the next row; advances by one.
  struct Slot {
    std::shared_ptr<BatchMemory> memory;
    int64_t row = 0;
  };
  Slot Next();
  // Ends the rows' epoch, and those before.
  void EndEpoch(uint64_t epoch);

  // False if rows are too small for it to pay, if no column has slots, or if a batch is so large that the budget cannot
  // hold one that is filled and one that waits to be taken.
  static bool Useful(int64_t rows, const std::vector<ir::ColumnType>& types, int64_t budget);

 private:
  const MemorySource source_;
  const int64_t rows_;
  const std::shared_ptr<const std::vector<ir::ColumnType>> types_;
  std::shared_ptr<BatchMemory> memory_;
  EpochRange epochs_;  // the remaining ones, including the current one
  const std::function<uint64_t(uint64_t)> last_epoch_;
  const int64_t batch_bytes_;
  int64_t kept_ = 0;
  int64_t next_;  // index in its batch; below 0: of a skipped row
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_BATCH_MEMORY_H_
