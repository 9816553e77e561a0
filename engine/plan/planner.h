// `MakePlan` lays a prepared graph out in stages: which operators share a task, where connectors are, which threads run
// what, where rows may be kept, and where each operator begins.
// Threads: a pure function: the same graph, data and options give an equal plan.
#ifndef HEADRACE_ENGINE_PLAN_PLANNER_H_
#define HEADRACE_ENGINE_PLAN_PLANNER_H_

#include "absl/status/statusor.h"
#include "engine/plan/physical_plan.h"
#include "engine/plan/plan_options.h"
#include "engine/plan/prepared_graph.h"

namespace headrace {

// Operators have the numbers of their nodes in `prepared`. Errors: kUnsupported or kGraph for shards, epochs and caches
// that are not possible, kState for a checkpoint of other operators.
absl::StatusOr<PhysicalPlan> MakePlan(const PreparedGraph& prepared, const PlanOptions& options);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_PLANNER_H_
