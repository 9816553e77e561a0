// `TakeColumnRows`, `SeparateRows` and `KeepRows` take rows out of blocks, whatever form the columns have.
// Threads: pure functions on a block's owner's thread.
#ifndef HEADRACE_OPS_ROWS_BLOCK_ROWS_H_
#define HEADRACE_OPS_ROWS_BLOCK_ROWS_H_

#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/operator/block.h"
#include "ops/rows/separate_row.h"

namespace headrace {

// Whether one buffer holds all rows, each a byte string of shape ().
inline bool HasStrings(const BlockColumn& column) {
  return column.sliceable() && column.stack().rank() == 1 && IsVariableLength(column.stack().dtype());
}

// Whether rows are strings that are copied together. Long ones in a table of views are copied one by one: a row that is
// kept would keep those around it.
inline bool CopiesTogether(const BlockColumn& column) {
  constexpr size_t kLong = 512;
  return HasStrings(column) &&
         (column.stack().joined() || column.stack().bytes() < kLong * static_cast<size_t>(column.rows()));
}

// Some of the rows, in a column of their own. Strings are copied: a row would keep the memory of all.
inline BlockColumn TakeColumnRows(BlockColumn& column, absl::Span<const int> rows) {
  if (CopiesTogether(column) && !rows.empty()) {
    std::vector<std::string_view> strings;
    strings.reserve(rows.size());
    for (const int row : rows) strings.push_back(column.stack().bytes_at(row));
    absl::StatusOr<Tensor> copy =
        Tensor::CopyBytesArray(column.stack().dtype(), {static_cast<int64_t>(rows.size())}, strings);
    if (copy.ok()) return BlockColumn::Stacked(*std::move(copy));
  }
  BlockColumn kept;
  for (const int row : rows) kept.Append(SeparateRow(column.TakeRow(row)));
  return kept;
}

// Strings that are end to end have memory of their own.
inline void SeparateRows(Block& block) {
  for (BlockColumn& column : block.columns) {
    if (CopiesTogether(column) && !column.stack().joined()) {
      absl::StatusOr<Tensor> joined = column.stack().Joined();
      if (joined.ok()) column = BlockColumn::Stacked(*std::move(joined));
    }
    if (column.ragged() || (column.stacked() && (!HasStrings(column) || column.stack().joined()))) continue;
    for (int row = 0; row < column.rows(); ++row) column.SetRow(row, SeparateRow(column.TakeRow(row)));
  }
}

// Keeps only the given rows, in ascending order, and only their bytes of a shared file block.
inline void KeepRows(Block& block, absl::Span<const int> rows) {
  if (static_cast<int>(rows.size()) == block.rows()) {
    SeparateRows(block);
    return;
  }
  for (BlockColumn& column : block.columns) column = TakeColumnRows(column, rows);
  int to = 0;
  for (int row : rows) {
    block.ids[to] = block.ids[row];
    block.provenances.Move(static_cast<size_t>(row), static_cast<size_t>(to));
    ++to;
  }
  block.ids.resize(rows.size());
  block.provenances.Truncate(rows.size());
}

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_BLOCK_ROWS_H_
