// `StateAfter` takes a state of a small graph, and `FromState` resumes from it. Use them in tests.
// Threads: one thread, on which the pipeline also runs.
#ifndef HEADRACE_OPS_TESTING_STATE_RUN_H_
#define HEADRACE_OPS_TESTING_STATE_RUN_H_

#include <chrono>
#include <memory>

#include "absl/status/statusor.h"
#include "engine/exec/iteration.h"
#include "engine/exec/state.pb.h"
#include "ir/messages.h"

namespace headrace {

// Aborts the process if the graph gives fewer rows.
proto::State StateAfter(const ir::proto::Graph& graph, int rows, const HostBindings& bindings = {});

// Options to resume from the state, sealed, on this thread.
IterateOptions FromState(const proto::State& state);

// Reads at most `most` rows, since a graph may be endless, and waits at most `patience` for each; OK if there are no
// more.
absl::Status ReadAll(absl::StatusOr<std::unique_ptr<Iteration>> iteration, int most,
                     std::chrono::nanoseconds patience = std::chrono::seconds(5));

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_STATE_RUN_H_
