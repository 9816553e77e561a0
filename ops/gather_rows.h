// Joins rows of several blocks to a new one. Thread contract: on the thread that owns the blocks.
#ifndef HEADRACE_OPS_GATHER_ROWS_H_
#define HEADRACE_OPS_GATHER_ROWS_H_

#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "engine/operator/block.h"

namespace headrace {

struct RowPlace {
  Block* block;
  int row;
};

// Type and shape of a row, by column.
using RunTypes = absl::InlinedVector<std::pair<DType, Shape>, 2>;
// Of a block whose columns are each in one piece; else nullopt.
std::optional<RunTypes> RunTypesOf(const Block& block);

// The rows in the order given, with their identities and without checkpoint. `same_runs`: all blocks have the same
// RunTypes, and columns become one piece by copies; else rows are moved out.
Message GatherRows(absl::Span<const RowPlace> rows, bool same_runs);

}  // namespace headrace

#endif  // HEADRACE_OPS_GATHER_ROWS_H_
