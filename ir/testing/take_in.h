// Takes in a graph from outside as front ends do: reads, checks, optimizes and writes it. For tests alone; one thread.
#ifndef HEADRACE_IR_TESTING_TAKE_IN_H_
#define HEADRACE_IR_TESTING_TAKE_IN_H_

#include "absl/status/statusor.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

enum class TakenIn { kRefused, kRead, kValid };

// How far `graph`, as it was read, gets. Stops the process where a valid graph cannot be optimized, or is not what its
// own bytes, text and JSON say.
TakenIn TakeIn(absl::StatusOr<proto::Graph> graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_TESTING_TAKE_IN_H_
