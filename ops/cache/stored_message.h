// `WriteMessage` and `ReadMessage` convert a message to the tensors of one cache record and back, for caches in order.
// Threads: pure functions.
#ifndef HEADRACE_OPS_CACHE_STORED_MESSAGE_H_
#define HEADRACE_OPS_CACHE_STORED_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "engine/operator/block.h"
#include "ir/type.h"

namespace headrace {

// The tensors of the rows, then, if rows failed, two of stored_failures.h, then numbers (rows, checkpoint, ids,
// provenances) and file names. The message must have rows, or note removed ones.
absl::StatusOr<std::vector<Tensor>> WriteMessage(const Block& block);

// The message with these columns and a checkpoint of that many counters, whose rows are of `row_epoch`. Null if the
// tensors, which are untrusted, are no such message.
Message ReadMessage(std::vector<Tensor> tensors, const ir::Schema& schema, size_t checkpoint, uint64_t epoch,
                    uint64_t row_epoch);

}  // namespace headrace

#endif  // HEADRACE_OPS_CACHE_STORED_MESSAGE_H_
