// The execution tree as text: the plan before a run, the times after it. Pure functions of reports.
#ifndef HEADRACE_ENGINE_REPORT_EXPLAIN_H_
#define HEADRACE_ENGINE_REPORT_EXPLAIN_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/exec/iteration.h"
#include "ir/passes.h"

namespace headrace {

std::string ExplainPlan(const Report& report);
std::string ExplainRun(const Report& report);
// Each pass that changed the graph, with the graph before and after.
std::string ExplainPasses(const ir::Optimized& optimized);
// The plan before a run: the tree, its stages and estimates, after the passes if `passes` is set. Errors as
// Iteration::Start.
absl::StatusOr<std::string> ExplainGraph(const ir::proto::Graph& user_graph, const IterateOptions& options,
                                         bool passes);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_REPORT_EXPLAIN_H_
