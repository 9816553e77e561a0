// `GatheredColumn` makes a column of a block from rows of an Arrow column that lie anywhere in several batches. Use it
// before making rows one by one. Threads: a pure function.
#ifndef HEADRACE_OPS_SOURCE_ARROW_GATHERED_COLUMN_H_
#define HEADRACE_OPS_SOURCE_ARROW_GATHERED_COLUMN_H_

#include <optional>

#include "absl/types/span.h"
#include "engine/operator/block.h"
#include "io/formats/arrow/gathered_rows.h"

namespace headrace {

// Stacked, or ragged where the rows are lists. Nullopt, and at least one row: as GatherArrowRows.
std::optional<BlockColumn> GatheredColumn(absl::Span<const RowOfArrow> rows);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_ARROW_GATHERED_COLUMN_H_
