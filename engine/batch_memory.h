// The memory of one batch, taken before its rows are made, so that each can be written into its place. Which rows meet
// in a batch is predicted by counting; the batch operator checks each place and copies a row that proves misplaced.
// Thread contract: PlaceOf from any thread, each place once; what is written is read after the row was handed over.
#ifndef HEADRACE_ENGINE_BATCH_MEMORY_H_
#define HEADRACE_ENGINE_BATCH_MEMORY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/tensor.h"
#include "engine/epoch_range.h"
#include "engine/run_control.h"
#include "ir/type.h"

namespace headrace {

class BatchMemory {
 public:
  // Of `rows` rows with the types of one; columns whose type is not fully known have no place. `reserved`: bytes that
  // the pipeline's account holds for it already.
  BatchMemory(RunControl* control, int64_t rows, std::shared_ptr<const std::vector<ir::ColumnType>> types,
              int64_t reserved)
      : control_(control), rows_(rows), reserved_(reserved), types_(std::move(types)), columns_(types_->size()) {}
  ~BatchMemory();
  BatchMemory(const BatchMemory&) = delete;

  // Where the row's column goes; invalid: nowhere. Takes the memory for all rows at the first call.
  Tensor PlaceOf(int column, int64_t row);
  // (rows, …), uninitialised where no row was written; invalid where there is no place, or none was asked for.
  const Tensor& whole(size_t column) const { return columns_[column]; }
  // The tensor lies in the column.
  bool Holds(size_t column, const Tensor& row) const {
    return column < columns_.size() && columns_[column].valid() &&
           columns_[column].buffer().get() == row.buffer().get();
  }

 private:
  void Take();

  RunControl* const control_;
  const int64_t rows_;
  int64_t reserved_;  // until it is taken
  const std::shared_ptr<const std::vector<ir::ColumnType>> types_;
  std::once_flag taken_;
  std::vector<Tensor> columns_;
};

// Deals out places to rows in their order.
class BatchPlaces {
 public:
  // `skipped`: rows that come first and were used before a restart. `epochs`: the batches' own; `last_epoch`: the last
  // of the rows' epochs that goes into one of those.
  BatchPlaces(RunControl* control, int64_t rows, std::vector<ir::ColumnType> types, int64_t skipped, EpochRange epochs,
              std::function<uint64_t(uint64_t epoch)> last_epoch);
  ~BatchPlaces() { control_->account()->Charge(-kept_); }

  // Bytes of the batches that so many more rows begin, less those kept.
  int64_t BytesBegunBy(int rows) const;
  // The account holds so many bytes for batches to come.
  void Keep(int64_t bytes) { kept_ += bytes; }

  // Of the next row; moves on by one.
  struct Place {
    std::shared_ptr<BatchMemory> memory;
    int64_t row = 0;
  };
  Place Next();
  // The rows' epoch ends, and with it those before.
  void EndEpoch(uint64_t epoch);

  // False: rows are too small to be worth it, no column has a place, or a batch is so large that the budget cannot hold
  // one that is filled beside one that waits to be taken.
  static bool Useful(int64_t rows, const std::vector<ir::ColumnType>& types, int64_t budget);

 private:
  RunControl* const control_;
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

#endif  // HEADRACE_ENGINE_BATCH_MEMORY_H_
