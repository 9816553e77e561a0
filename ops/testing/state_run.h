// Takes states of small graphs, and goes on from them. For tests alone; one thread, on which the pipeline runs, too.
#ifndef HEADRACE_OPS_TESTING_STATE_RUN_H_
#define HEADRACE_OPS_TESTING_STATE_RUN_H_

#include <chrono>
#include <memory>

#include "absl/status/statusor.h"
#include "engine/exec/iteration.h"
#include "engine/exec/state.pb.h"
#include "ir/graph.pb.h"

namespace headrace {

// Stops the process where the graph does not give so many rows.
proto::State StateAfter(const ir::proto::Graph& graph, int rows);

// To go on from the state, sealed, on this thread.
IterateOptions FromState(const proto::State& state);

// At most `most` rows, so that endless ones end, and for each no longer than `patience`; OK where there are no more.
absl::Status ReadAll(absl::StatusOr<std::unique_ptr<Iteration>> iteration, int most,
                     std::chrono::nanoseconds patience = std::chrono::seconds(5));

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_STATE_RUN_H_
