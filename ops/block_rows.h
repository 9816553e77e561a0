// Takes rows out of blocks, whatever form the columns have. Pure functions on a block's owner's thread.
#ifndef HEADRACE_OPS_BLOCK_ROWS_H_
#define HEADRACE_OPS_BLOCK_ROWS_H_

#include <utility>

#include "absl/types/span.h"
#include "engine/operator/block.h"

namespace headrace {

// Leaves only the rows given, in rising order.
inline void KeepRows(Block& block, absl::Span<const int> rows) {
  if (static_cast<int>(rows.size()) == block.rows()) return;
  for (BlockColumn& column : block.columns) {
    BlockColumn kept;
    for (int row : rows) kept.Append(column.TakeRow(row));
    column = std::move(kept);
  }
  int to = 0;
  for (int row : rows) {
    block.ids[to] = block.ids[row];
    if (to != row) block.provenances[to] = std::move(block.provenances[row]);
    ++to;
  }
  block.ids.resize(rows.size());
  block.provenances.resize(rows.size());
}

}  // namespace headrace

#endif  // HEADRACE_OPS_BLOCK_ROWS_H_
