// A message as the tensors of one record, as caches keep those that come in their order. Pure functions.
#ifndef HEADRACE_OPS_STORED_MESSAGE_H_
#define HEADRACE_OPS_STORED_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "engine/operator/block.h"
#include "ir/type.h"

namespace headrace {

// Those of its rows, then numbers (rows, checkpoint, ids, provenances) and the names of files. Of a message with rows.
absl::StatusOr<std::vector<Tensor>> WriteMessage(const Block& block);

// Of a message with these columns and so many checkpoint, whose rows are of `row_epoch`; null where the tensors, which
// may come from anybody, are no such message.
Message ReadMessage(std::vector<Tensor> tensors, const ir::Schema& schema, size_t checkpoint, uint64_t epoch,
                    uint64_t row_epoch);

}  // namespace headrace

#endif  // HEADRACE_OPS_STORED_MESSAGE_H_
