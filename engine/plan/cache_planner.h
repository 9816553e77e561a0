// Where the rows of a run may be kept: the caches that the user put in, and the cache points of operators that have
// room for one of the engine's own.
// Pure functions.
#ifndef HEADRACE_ENGINE_PLAN_CACHE_PLANNER_H_
#define HEADRACE_ENGINE_PLAN_CACHE_PLANNER_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/operator/epoch_range.h"
#include "engine/plan/physical_plan.h"
#include "engine/plan/plan_node.h"
#include "engine/plan/plan_options.h"

namespace headrace {

// Every source below may give rows in groups.
bool MayGroup(const PlanNode& node);

// The cache that the user put in with this node. kUnsupported or kGraph where it cannot keep what comes to it.
absl::StatusOr<PlannedCache> PlanOwnCache(const PlanNode& node, const ir::proto::Graph& graph,
                                          const PlanOptions& options, uint64_t seed);

// A cache within the node's work, whose epochs are `epochs`; nullopt: there is no point for one, or its rows cannot be
// known by key.
std::optional<PlannedCache> PlanAutomaticCache(const PlanNode& node, const ir::proto::Graph& graph,
                                               const PlanOptions& options, EpochRange epochs);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_CACHE_PLANNER_H_
