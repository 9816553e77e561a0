// `ParquetTurns` collects rows of the turns of several readers, of which each has few, for one message: numbers,
// lists and texts are copied side by side from the memory of their row groups.
// Threads: one thread at a time.
#ifndef HEADRACE_OPS_SOURCE_PARQUET_PARQUET_TURNS_H_
#define HEADRACE_OPS_SOURCE_PARQUET_PARQUET_TURNS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "engine/operator/block.h"
#include "io/formats/arrow/arrow_batch.h"
#include "ops/source/parquet/parquet_columns.h"

namespace headrace {

class ParquetTurns {
 public:
  // Rows of one batch, each `step` after the one before. `batch`: null where none is read.
  struct Rows {
    std::shared_ptr<const ParquetColumns> columns;
    std::shared_ptr<const ArrowBatch> batch;
    int64_t first = 0;
    size_t step = 1;
    size_t count = 0;
    bool alone = false;       // no others are added
    size_t copied_bytes = 0;  // ParquetColumns::CopiedBytes
  };

  bool empty() const { return turns_.empty(); }
  // Of the rows that were added.
  size_t bytes() const { return bytes_; }
  // Returns how many rows were added: fewer if the next one fails, for the reason in `wrong`.
  size_t Add(Rows rows, absl::Status& wrong);
  // Gives the block their columns, and has no rows then.
  void Take(Block& block);

 private:
  struct Turn {
    Rows rows;
    ParquetColumns::Made made;  // without the columns that are lent; empty: all are

    bool Lacks(size_t column) const { return made.empty() || made[column].rows() == 0; }
  };

  static size_t Make(const Rows& rows, ParquetColumns::Made& made, absl::Status& wrong);
  BlockColumn TakeColumn(size_t column);
  // Nullopt: the column is not copied in all turns alike, or there is no memory.
  std::optional<Tensor> Copied(size_t column) const;
  // Nullopt: not all turns lend the column, they do so in several forms, or there is no memory.
  std::optional<BlockColumn> Gathered(size_t column) const;

  std::vector<Turn> turns_;
  size_t bytes_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_PARQUET_PARQUET_TURNS_H_
