// `Canonicalize` brings a graph into its canonical form: current versions, every attribute written out and sorted,
// orders as operators of their own, a salt for every random operator. The canonical form is what is hashed, saved,
// validated and run.
// Threads: pure functions.
#ifndef HEADRACE_IR_CANONICAL_H_
#define HEADRACE_IR_CANONICAL_H_

#include "absl/status/status.h"
#include "ir/messages.h"

namespace headrace::ir {

// Leaves unknown ops and attributes, and values of a wrong type, for Validate to report. Version 0 means the current
// one. Existing salts stay. Fails with kGraph for a newer version than ours, for one that cannot be upgraded,
// for choosers that are nested too deeply, and if two operators have one name. Idempotent.
absl::Status Canonicalize(proto::Graph& graph);

// Does to what a pass added to a canonical graph what concerns each operator alone: its version and its attributes.
// Operators stay where the pass put them, so a choice of rows means the numbers that it meant.
absl::Status WriteOutOperators(proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_CANONICAL_H_
