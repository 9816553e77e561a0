// `CheckHostRow` checks rows returned by user code against the declared columns; `JoinSmallRows` stacks small ones.
// Threads: pure functions.
#ifndef HEADRACE_OPS_SOURCE_MEMORY_HOST_ROW_H_
#define HEADRACE_OPS_SOURCE_MEMORY_HOST_ROW_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/tensor.h"
#include "engine/operator/block.h"
#include "ir/type.h"

namespace headrace {

// kData, with the row's number and source ("the generator", "train.py:rows#0"), if the row has another number of values
// than there are columns, or one of another type.
absl::Status CheckHostRow(const ir::Columns& columns, const std::vector<Tensor>& row, std::string_view kind,
                          std::string_view source, uint64_t index);

// Joins rows that are alike and of at most a KiB into one buffer for each column; larger ones are copied once, by what
// joins them.
void JoinSmallRows(Block& block);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MEMORY_HOST_ROW_H_
