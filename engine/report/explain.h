// The execution tree in words: before a run what would happen, after it where time went. Pure functions of reports.
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
// What would run, before it does: the tree, its stages and estimates, after the passes where `passes` asks for them.
// Errors as Iteration::Start.
absl::StatusOr<std::string> ExplainGraph(const ir::proto::Graph& user_graph, const IterateOptions& options,
                                         bool passes);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_REPORT_EXPLAIN_H_
