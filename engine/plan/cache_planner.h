// `PlanOwnCache` and `PlanAutomaticCache` decide where the rows of a run may be kept: in the caches that the user put
// in, and at the cache points of operators that may hold an automatic cache.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_PLAN_CACHE_PLANNER_H_
#define HEADRACE_ENGINE_PLAN_CACHE_PLANNER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

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

// The files of notes that lie beside those of each source, looked up once for all of its maps.
using NoteFilesOfSources = std::map<const PlanNode*, std::vector<std::string>>;

// The automatic cache of the node, whose epochs are `epochs`; nullopt: it has no cache point, or its rows cannot be
// identified by key. `above`: a cache of the user through which its rows go; null: there is none.
std::optional<PlannedCache> PlanAutomaticCache(const PlanNode& node, const PlanOptions& options, EpochRange epochs,
                                               const PlanNode* above, NoteFilesOfSources& note_files);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_CACHE_PLANNER_H_
