// Joins rows of several blocks to a new one. Thread contract: on the thread that owns the blocks.
#ifndef HEADRACE_OPS_GATHER_ROWS_H_
#define HEADRACE_OPS_GATHER_ROWS_H_

#include "absl/types/span.h"
#include "engine/block.h"

namespace headrace {

struct RowPlace {
  Block* block;
  int row;
};

// The rows in the order given, with their identities and without stamps. A column becomes one piece where it is in one
// piece, of one type, in all blocks; else its rows are moved out.
Message GatherRows(absl::Span<const RowPlace> rows);

}  // namespace headrace

#endif  // HEADRACE_OPS_GATHER_ROWS_H_
