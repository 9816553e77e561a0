// The canonical form of a graph: current versions, every attribute written out and sorted, a salt for every random
// operator. The canonical form is what is hashed, saved, validated and run. Pure functions.
#ifndef HEADRACE_IR_CANONICAL_H_
#define HEADRACE_IR_CANONICAL_H_

#include "absl/status/status.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

// Leaves unknown ops and attributes, and values of a wrong type, for Validate to report. Version 0 means the current
// one. Existing salts stay; the others get the smallest unused numbers, inputs before their users. Fails with kGraph
// for a newer version than ours, or one that cannot be upgraded. Idempotent.
absl::Status Canonicalize(proto::Graph& graph);

// Whether it draws random numbers: by declaration, or by its attribute `random`, which a Python function sets.
bool DrawsRandom(const proto::Node& node);
bool DrawsRandom(const proto::Step& step);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_CANONICAL_H_
