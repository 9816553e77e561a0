#include "ops/source/parquet/parquet_turns.h"

#include <utility>

#include "ops/rows/joined_column.h"
#include "ops/source/arrow/gathered_column.h"

namespace headrace {

size_t ParquetTurns::Add(Rows rows, absl::Status& wrong) {
  Turn turn{std::move(rows), {}};
  // Columns that are lent are only looked at: they are gathered from all turns at once.
  size_t bytes = 0;
  const bool lends = !turn.rows.alone || turn.rows.step > 1;
  if (lends && turn.rows.copied_bytes > 0) {
    const size_t count = turn.rows.count;
    bytes_ += count * turn.rows.copied_bytes;
    turns_.push_back(std::move(turn));
    return count;
  }
  for (size_t i = 0; lends && i < turn.rows.columns->size() && turn.rows.count > 0; ++i) {
    const Rows& left = turn.rows;
    if (!left.columns->IsLent(left.batch.get(), i)) continue;
    turn.rows.count = left.columns->CheckLent(*left.batch, i, left.first, left.step, left.count, bytes, wrong);
  }
  if (turn.rows.count == 0) return 0;
  const size_t added = Make(turn.rows, turn.made, wrong);
  if (added == 0) return 0;
  turn.rows.count = added;
  for (const BlockColumn& column : turn.made) bytes += column.bytes();
  bytes_ += bytes;
  turns_.push_back(std::move(turn));
  return added;
}

size_t ParquetTurns::Make(const Rows& rows, ParquetColumns::Made& made, absl::Status& wrong) {
  const ParquetColumns& columns = *rows.columns;
  using Lent = ParquetColumns::Lent;
  if (rows.alone && rows.step == 1) return columns.Make(rows.batch.get(), rows.first, rows.count, made, wrong);
  size_t lent = 0;
  while (lent < columns.size() && columns.IsLent(rows.batch.get(), lent)) ++lent;
  if (lent == columns.size()) return rows.count;
  if (rows.step == 1 || rows.count == 1) {
    return columns.Make(rows.batch.get(), rows.first, rows.count, made, wrong, Lent::kLeftOut);
  }
  // Other ranks have the rows between, whose faults are theirs.
  ParquetColumns::Made row;
  for (size_t i = 0; i < rows.count; ++i) {
    row.clear();
    const int64_t number = rows.first + static_cast<int64_t>(i * rows.step);
    if (columns.Make(rows.batch.get(), number, 1, row, wrong, Lent::kLeftOut) == 0) return i;
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
    const bool copies = turn.rows.copied_bytes > 0 || turn.rows.columns->Copies(turn.rows.batch.get(), column);
    if (!copies) return std::nullopt;
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

std::optional<BlockColumn> ParquetTurns::Gathered(size_t column) const {
  std::vector<RowOfArrow> rows;
  for (const Turn& turn : turns_) {
    if (!turn.Lacks(column)) return std::nullopt;
    for (size_t i = 0; i < turn.rows.count; ++i) {
      const int64_t row = turn.rows.first + static_cast<int64_t>(i * turn.rows.step);
      rows.push_back(turn.rows.columns->LentRow(*turn.rows.batch, column, row));
    }
  }
  return GatheredColumn(rows);
}

BlockColumn ParquetTurns::TakeColumn(size_t column) {
  const bool spread = turns_.size() > 1 || turns_[0].rows.step > 1;
  if (spread && turns_[0].Lacks(column)) {
    std::optional<Tensor> copied = Copied(column);
    if (copied.has_value()) return BlockColumn::Stacked(*std::move(copied));
    std::optional<BlockColumn> gathered = Gathered(column);
    if (gathered.has_value()) return *std::move(gathered);
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
      runs.push_back(
          rows.columns->LentRows(*rows.batch, column, rows.first + static_cast<int64_t>(i * rows.step), at_once));
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
