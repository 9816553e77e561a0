// `JoinedColumn` joins runs of rows of one column, which came apart, in their order: in one buffer where each of them
// is in one, or has one row, and by rows otherwise.
// Threads: on the thread that owns the columns.
#ifndef HEADRACE_OPS_ROWS_JOINED_COLUMN_H_
#define HEADRACE_OPS_ROWS_JOINED_COLUMN_H_

#include "absl/types/span.h"
#include "engine/operator/block.h"

namespace headrace {

// At least one run; they are moved from.
BlockColumn JoinedColumn(absl::Span<BlockColumn> runs);

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_JOINED_COLUMN_H_
