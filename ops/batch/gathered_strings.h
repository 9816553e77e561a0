// `GatherStrings` makes an array of byte strings that stay where they are. Use it for the strings of a batch that are
// so long that a copy costs more than the rest of the memory that is kept with them.
// Threads: pure function.
#ifndef HEADRACE_OPS_BATCH_GATHERED_STRINGS_H_
#define HEADRACE_OPS_BATCH_GATHERED_STRINGS_H_

#include <optional>

#include "absl/types/span.h"
#include "core/tensor.h"

namespace headrace {

// All strings of the arrays or single strings, which have one dtype, in their order, as an array of that shape. Nullopt
// if they are to be copied: they are short, their memory is lent or holds as much again of others, or there is no
// memory for the table.
std::optional<Tensor> GatherStrings(absl::Span<const Tensor> strings, const Shape& shape);

}  // namespace headrace

#endif  // HEADRACE_OPS_BATCH_GATHERED_STRINGS_H_
