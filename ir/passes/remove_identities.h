// A pass: what changes nothing goes away. Operators and kernels say themselves when that is so (`is_identity` and
// `is_kernel_identity` of a declaration): skip(0), take of more rows than there can be, a project of all columns in
// order, a rename to the same names, a filter whose condition is True; a TypeCast to the type that is there, a Resize
// to the size that is known, a Slice of everything, padding by nothing.
//
// Rows, their identities and their order are the same because nothing else happens at such an operator. Two things
// could still be told apart, and keep it where it is:
// - Operators with counters in states (a take or skip above anything but indices) stay, so that a state fits the
//   pipeline whichever passes are on, and so that what shards and restarts allow does not hang on the optimizer.
// - What keeps operators on indices apart, so that rows are dealt to ranks below it, leaves a project in its place.
// Not identities, however they look: repeat(1) and concat of one input, which mix the pass and the input's number into
// the keys of rows. A pure function.
#ifndef HEADRACE_IR_PASSES_REMOVE_IDENTITIES_H_
#define HEADRACE_IR_PASSES_REMOVE_IDENTITIES_H_

#include "absl/status/statusor.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> RemoveIdentities(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_REMOVE_IDENTITIES_H_
