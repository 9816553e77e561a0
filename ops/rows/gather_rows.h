// `GatherRows` joins rows of several blocks into a new block.
// Threads: on the thread that owns the blocks.
#ifndef HEADRACE_OPS_ROWS_GATHER_ROWS_H_
#define HEADRACE_OPS_ROWS_GATHER_ROWS_H_

#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "engine/operator/block.h"

namespace headrace {

struct RowInBlock {
  Block* block;
  int row;
};

// The type and shape of a row, by column; the first axis of a ragged column is ir::kUnknownDim.
using RunTypes = absl::InlinedVector<std::pair<DType, Shape>, 2>;
// The types of the block's columns if each is contiguous or ragged; else nullopt.
std::optional<RunTypes> RunTypesOf(const Block& block);

// Joins the rows in the order given, with their identities and without a checkpoint. `same_runs`: all blocks have the
// same RunTypes, and columns become contiguous by copies; otherwise rows are moved one by one.
Message GatherRows(absl::Span<const RowInBlock> rows, bool same_runs);
// The same; finds out whether the blocks have the same RunTypes.
Message GatherRows(absl::Span<const RowInBlock> rows);

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_GATHER_ROWS_H_
