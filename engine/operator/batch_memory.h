// The memory of one batch, taken before its rows are made, so that each can be written into its slot. Which rows meet
// in a batch is predicted by counting; the batch operator checks each slot and copies a row that proves misplaced.
// Thread contract: SlotOf from any thread, each slot once; what is written is read after the row was handed over.
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

// Who gives memory, and whose budget it counts against.
struct MemorySource {
  BufferPool* pool;
  MemoryAccount* account;
};

class BatchMemory {
 public:
  // Of `rows` rows with the types of one; columns whose type is not fully known have no slot. `reserved`: bytes that
  // the pipeline's account holds for it already.
  BatchMemory(MemorySource source, int64_t rows, std::shared_ptr<const std::vector<ir::ColumnType>> types,
              int64_t reserved)
      : source_(source), rows_(rows), reserved_(reserved), types_(std::move(types)), columns_(types_->size()) {}
  ~BatchMemory();
  BatchMemory(const BatchMemory&) = delete;

  // Where the row's column goes; invalid: nowhere. Takes the memory for all rows at the first call.
  Tensor SlotOf(int column, int64_t row);
  // (rows, …), uninitialised where no row was written; invalid where there is no slot, or none was asked for.
  const Tensor& whole(size_t column) const { return columns_[column]; }
  // The tensor lies in the column.
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

// Deals out slots to rows in their order.
class BatchSlots {
 public:
  // `skipped`: rows that come first and were used before a restart. `epochs`: the batches' own; `last_epoch`: the last
  // of the rows' epochs that goes into one of those.
  BatchSlots(MemorySource source, int64_t rows, std::vector<ir::ColumnType> types, int64_t skipped, EpochRange epochs,
             std::function<uint64_t(uint64_t epoch)> last_epoch);
  ~BatchSlots() { source_.account->Charge(-kept_); }

  // Bytes of the batches that so many more rows begin, less those kept.
  int64_t BytesBegunBy(int rows) const;
  // The account holds so many bytes for batches to come.
  void Keep(int64_t bytes) { kept_ += bytes; }

  // Of the next row; moves on by one.
  struct Slot {
    std::shared_ptr<BatchMemory> memory;
    int64_t row = 0;
  };
  Slot Next();
  // The rows' epoch ends, and with it those before.
  void EndEpoch(uint64_t epoch);

  // False: rows are too small to be worth it, no column has a slot, or a batch is so large that the budget cannot hold
  // one that is filled beside one that waits to be taken.
  static bool Useful(int64_t rows, const std::vector<ir::ColumnType>& types, int64_t budget);

 private:
  const MemorySource source_;
  const int64_t rows_;
  const std::shared_ptr<const std::vector<ir::ColumnType>> types_;
  std::shared_ptr<BatchMemory> memory_;
  EpochRange epochs_;  // those to come, with the one that runs
  const std::function<uint64_t(uint64_t)> last_epoch_;
  const int64_t batch_bytes_;
  int64_t kept_ = 0;
  int64_t next_;  // in its batch; below 0: of those skipped
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_BATCH_MEMORY_H_
