// The execution tree in words: before a run what would happen, after it where time went. Pure functions of reports.
#ifndef HEADRACE_ENGINE_EXPLAIN_H_
#define HEADRACE_ENGINE_EXPLAIN_H_

#include <string>

#include "engine/pipeline.h"
#include "ir/passes.h"

namespace headrace {

std::string ExplainPlan(Pipeline& pipeline);
std::string ExplainRun(Pipeline& pipeline);
// Each pass that changed the graph, with the graph before and after.
std::string ExplainPasses(const ir::Optimized& optimized);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXPLAIN_H_
