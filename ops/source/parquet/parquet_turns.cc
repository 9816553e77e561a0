#include "ops/source/parquet/parquet_turns.h"

#include <utility>

#include "ops/rows/joined_column.h"

namespace headrace {

size_t ParquetTurns::Add(Rows rows, absl::Status& wrong) {
  Turn turn{std::move(rows), {}};
  const size_t added = Make(turn.rows, turn.made, wrong);
  if (added == 0) return 0;
  turn.rows.count = added;
  for (size_t i = 0; i < turn.rows.columns->size(); ++i) {
    bytes_ += turn.Lacks(i) ? added * turn.rows.columns->BytesOfRow(i) : turn.made[i].bytes();
  }
  turns_.push_back(std::move(turn));
  return added;
}

size_t ParquetTurns::Make(const Rows& rows, ParquetColumns::Made& made, absl::Status& wrong) {
  const ParquetColumns& columns = *rows.columns;
  using Copied = ParquetColumns::Copied;
  size_t copied = 0;
  while (copied < columns.size() && columns.Copies(rows.batch.get(), copied)) ++copied;
  if (copied == columns.size()) return rows.count;
  if (rows.step == 1 || rows.count == 1) {
    return columns.Make(rows.batch.get(), rows.first, rows.count, made, wrong, Copied::kLeftOut);
  }
  // Other ranks have the rows between, whose faults are theirs.
  ParquetColumns::Made row;
  for (size_t i = 0; i < rows.count; ++i) {
    row.clear();
    const int64_t number = rows.first + static_cast<int64_t>(i * rows.step);
    if (columns.Make(rows.batch.get(), number, 1, row, wrong, Copied::kLeftOut) == 0) return i;
    made.resize(row.size());
    for (size_t k = 0; k < row.size(); ++k) {
      if (row[k].rows() > 0) made[k].Append(row[k].TakeRow(0));
    }
  }
  return rows.count;
}

std::optional<Tensor> ParquetTurns::Copied(size_t column) const {
  const auto type = turns_[0].rows.columns->TypeOf(column);
  int64_t count = 0;
  for (const Turn& turn : turns_) {
    if (!turn.rows.columns->Copies(turn.rows.batch.get(), column)) return std::nullopt;
    if (turn.rows.columns != turns_[0].rows.columns && turn.rows.columns->TypeOf(column) != type) return std::nullopt;
    count += static_cast<int64_t>(turn.rows.count);
  }
  Shape shape = type.second;
  shape.insert(shape.begin(), count);
  absl::StatusOr<Tensor> copied = Tensor::Allocate(type.first, shape);
  if (!copied.ok()) return std::nullopt;
  uint8_t* target = copied->mutable_raw();
  for (const Turn& turn : turns_) {
    const Rows& rows = turn.rows;
    const size_t at_once = rows.step == 1 ? rows.count : 1;
    for (size_t i = 0; i < rows.count; i += at_once) {
      const int64_t first = rows.first + static_cast<int64_t>(i * rows.step);
      target = rows.columns->Copy(*rows.batch, column, first, static_cast<int64_t>(at_once), target);
    }
  }
  return *std::move(copied);
}

BlockColumn ParquetTurns::TakeColumn(size_t column) {
  const bool spread = turns_.size() > 1 || turns_[0].rows.step > 1;
  if (spread && turns_[0].Lacks(column)) {
    std::optional<Tensor> copied = Copied(column);
    if (copied.has_value()) return BlockColumn::Stacked(*std::move(copied));
  }
  std::vector<BlockColumn> runs;
  for (Turn& turn : turns_) {
    const Rows& rows = turn.rows;
    if (!turn.Lacks(column)) {
      runs.push_back(std::move(turn.made[column]));
      continue;
    }
    const size_t at_once = rows.step == 1 ? rows.count : 1;
    for (size_t i = 0; i < rows.count; i += at_once) {
      runs.push_back(rows.columns->Views(*rows.batch, column, rows.first + static_cast<int64_t>(i * rows.step),
                                         static_cast<int64_t>(at_once)));
    }
  }
  return JoinedColumn(absl::MakeSpan(runs));
}

void ParquetTurns::Take(Block& block) {
  if (turns_.empty()) return;
  const size_t columns = turns_[0].rows.columns->size();
  for (size_t i = 0; i < columns; ++i) block.columns.push_back(TakeColumn(i));
  turns_.clear();
  bytes_ = 0;
}

}  // namespace headrace
