// `WriteFailures` and `ReadFailures` convert what a message says of rows that failed to two tensors of a cache record
// and back, for caches in order.
// Threads: pure functions.
#ifndef HEADRACE_OPS_CACHE_STORED_FAILURES_H_
#define HEADRACE_OPS_CACHE_STORED_FAILURES_H_

#include <vector>

#include "absl/status/status.h"
#include "core/tensor.h"
#include "engine/operator/block.h"

namespace headrace {

// Whether there is anything to say: it is a tombstone, notes removed rows, or is continued by the next message.
bool HasFailures(const Block& block);

// Appends int64 numbers and texts. An exception of a Python function is kept as its text alone.
absl::Status WriteFailures(const Block& block, std::vector<Tensor>& tensors);

// False, with the block unchanged, if the tensors, which are untrusted, hold nothing of the kind. A tombstone's row
// must be in the block already.
bool ReadFailures(const Tensor& numbers, const Tensor& texts, Block& block);

}  // namespace headrace

#endif  // HEADRACE_OPS_CACHE_STORED_FAILURES_H_
