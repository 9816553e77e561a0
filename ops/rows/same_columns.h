// These functions serve operators that give the rows of several inputs one after the other: the inputs have the same
// columns, in any order, and the result has those of the first.
// Threads: pure functions.
#ifndef HEADRACE_OPS_ROWS_SAME_COLUMNS_H_
#define HEADRACE_OPS_ROWS_SAME_COLUMNS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/operator.h"

namespace headrace {

// Where shapes differ, that dimension is unknown. kGraph: the names or the types differ.
absl::StatusOr<ir::Schema> InferSameColumns(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs);

// The same columns of each input, because their orders may differ, and at least one.
std::vector<ir::ColumnSet> ReadsSameColumns(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                            const ir::ColumnSet& wanted);

// For each input, the index of each column of the result in it.
using ColumnIndices = std::vector<std::vector<int>>;
ColumnIndices ColumnIndicesOf(const OpArguments& arguments);
// Brings the columns of an input into the order of the result.
void Reorder(const std::vector<int>& indices, absl::InlinedVector<BlockColumn, 2>& columns);

// The rows of all inputs together.
Cardinality RowsTogether(const OpArguments& arguments, absl::Span<const Cardinality> inputs);
std::optional<uint64_t> MostRowsTogether(const ir::Attributes& attributes,
                                         absl::Span<const std::optional<uint64_t>> inputs);

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_SAME_COLUMNS_H_
