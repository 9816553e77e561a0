// `PlanOwnCache` and `PlanAutomaticCache` decide where the rows of a run may be kept: in the caches that the user put
// in, and at the cache points of operators that may hold an automatic cache.
// Threads: pure functions.
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

// Whether every source below may group rows.
bool MayGroup(const PlanNode& node);

// The cache that the user put in with this node. kUnsupported or kGraph if it cannot keep the rows that come to it.
absl::StatusOr<PlannedCache> PlanOwnCache(const PlanNode& node, const PlanOptions& options);

// The automatic cache of the node, whose epochs are `epochs`; nullopt: it has no cache point, or its rows cannot be
// identified by key.
std::optional<PlannedCache> PlanAutomaticCache(const PlanNode& node, const PlanOptions& options, EpochRange epochs);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_CACHE_PLANNER_H_
