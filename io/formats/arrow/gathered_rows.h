// `GatherArrowRows` copies rows of one column that lie anywhere in several batches into one tensor, with one look-up a
// row. Use it for columns whose rows lie in memory as tensors have them: others are made row by row.
// Threads: a pure function.
#ifndef HEADRACE_IO_FORMATS_ARROW_GATHERED_ROWS_H_
#define HEADRACE_IO_FORMATS_ARROW_GATHERED_ROWS_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "core/tensor.h"
#include "io/formats/arrow/arrow_rows.h"

namespace headrace {

struct RowOfArrow {
  const ArrowRows* rows = nullptr;
  int64_t row = 0;
};

struct GatheredRows {
  // Along a first axis; of lists, their values end to end.
  Tensor values;
  // Of lists, as JoinedLists has them.
  std::optional<Tensor> splits;
};

// At least one row. Nullopt: the batches differ in the type of the column, rows do not lie so, one of them may fail, or
// there is no memory.
std::optional<GatheredRows> GatherArrowRows(absl::Span<const RowOfArrow> rows);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_GATHERED_ROWS_H_
