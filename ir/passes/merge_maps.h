// A pass: a map right above another becomes one with it, so that a row passes through both in one go. Kernels,
// their order and their draws are the same.
//
// Maps stay apart where attributes (a cap on workers) differ, where two operators use the lower one, and where one
// calls the user's Python and the other does not: kernels would leave the pool of workers. Two that both call Python,
// none of it in order, become one: each is a stage with as many threads as the other, and an error of a row comes at
// the same row. With calls in order each has one thread, and two functions that let go of Python's lock would lose one
// of them. A pure function.
#ifndef HEADRACE_IR_PASSES_MERGE_MAPS_H_
#define HEADRACE_IR_PASSES_MERGE_MAPS_H_

#include "absl/status/statusor.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> MergeMaps(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_MERGE_MAPS_H_
