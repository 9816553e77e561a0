// `MergeMaps` is a pass that merges a map with the map directly below it, so that a row passes through both at once.
// Kernels, their order and their draws are the same.
//
// Maps stay separate if attributes (a cap on workers) differ, if two operators use the lower one, or if only one calls
// Python: kernels would leave the pool of workers. Two maps that both call Python, none of it in order, are merged:
// each is a stage with as many threads as the other, and an error of a row is raised at the same row. With calls in
// order each has one thread, and two functions that release Python's lock would lose one of them.
// Threads: a pure function.
#ifndef HEADRACE_IR_PASSES_MERGE_MAPS_H_
#define HEADRACE_IR_PASSES_MERGE_MAPS_H_

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> MergeMaps(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_MERGE_MAPS_H_
