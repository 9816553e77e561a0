// `RemoveIdentities` is a pass that removes what changes nothing. Operators and kernels declare when this is so
// (`is_identity` and `is_kernel_identity` of a declaration): skip(0), take of more rows than there can be, a project of
// all columns in order, a rename to the same names, a filter whose condition is True; a TypeCast to the same type, a
// Resize to the known size, a Slice of everything, padding by nothing.
//
// Rows, their identities and their order are the same because such an operator has no other effect. Two effects could
// still be visible, and prevent the removal:
// - Operators with counters in states (a take or skip not above indices) stay, so that a state fits the pipeline
//   whichever passes are on, and so that sharding and restarts do not depend on the optimizer.
// - An operator that keeps operators on indices apart, so that rows are sharded among ranks below it, is replaced by
//   a project.
// Not identities, although they look like it: repeat(1) and concat of one input, which mix the pass and the input's
// number into the keys of rows.
// Threads: a pure function.
#ifndef HEADRACE_IR_PASSES_REMOVE_IDENTITIES_H_
#define HEADRACE_IR_PASSES_REMOVE_IDENTITIES_H_

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> RemoveIdentities(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_REMOVE_IDENTITIES_H_
