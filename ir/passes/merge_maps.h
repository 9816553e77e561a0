// A pass: a map right above another becomes one with it, so that a row passes through both in one go. Maps that call
// the user's Python stay apart, as each is a stage of its own; so do maps whose attributes (a cap on workers) differ,
// and one that two operators use. A pure function.
#ifndef HEADRACE_IR_PASSES_MERGE_MAPS_H_
#define HEADRACE_IR_PASSES_MERGE_MAPS_H_

#include "absl/status/statusor.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> MergeMaps(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_MERGE_MAPS_H_
