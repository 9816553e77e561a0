// `ExplainRun` and `ExplainGraph` write a run as text: the plan and the passes before it, the times after it.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_REPORT_EXPLAIN_H_
#define HEADRACE_ENGINE_REPORT_EXPLAIN_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/exec/iteration.h"
#include "ir/passes.h"

namespace headrace {

std::string ExplainRun(const Report& report);
// Each pass that changed the graph, with the graph before and after.
std::string ExplainPasses(const ir::Optimized& optimized);
// The plan of a graph, after the passes if `passes` is set.
// Errors as Iteration::Start.
absl::StatusOr<std::string> ExplainGraph(const ir::proto::Graph& user_graph, const IterateOptions& options,
                                         bool passes);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_REPORT_EXPLAIN_H_
