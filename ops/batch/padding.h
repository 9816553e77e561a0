// `StackPadded` joins rows of unequal shapes: each axis is padded at its end to the largest row.
// Threads: pure functions.
#ifndef HEADRACE_OPS_BATCH_PADDING_H_
#define HEADRACE_OPS_BATCH_PADDING_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "ir/attributes.h"

namespace headrace {

// Joins rows of one dtype, with `least` as the least length of their first axis. Byte strings are padded with empty
// ones, whatever `value` is. kGraph if ranks differ.
absl::StatusOr<Tensor> StackPadded(absl::Span<const Tensor> rows, ir::Number value, int64_t least = 0);

}  // namespace headrace

#endif  // HEADRACE_OPS_BATCH_PADDING_H_
