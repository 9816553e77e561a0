// The canonical form of a graph: today's versions, every attribute written out and sorted, every random operator with
// its salt. Pure functions; what comes out is what is hashed, saved, validated and run.
#ifndef HEADRACE_IR_CANONICAL_H_
#define HEADRACE_IR_CANONICAL_H_

#include "absl/status/status.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

// Leaves what it does not understand (unknown ops and attributes, values of a wrong type) for Validate to report.
// Version 0 means today's. Salts that are there stay; the others get the smallest unused numbers, inputs before their
// users. Fails with kGraph for a version newer than ours or one that cannot be upgraded. Doing it again changes
// nothing.
absl::Status Canonicalize(proto::Graph& graph);

// Whether it draws random numbers: by declaration, or by its attribute `random`, as a Python function says it.
bool DrawsRandom(const proto::Node& node);
bool DrawsRandom(const proto::Step& step);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_CANONICAL_H_
