// What a graph must allow for a run that is asked for: its shards, and the checkpoint that it goes on from.
// Pure functions.
#ifndef HEADRACE_ENGINE_PLAN_PLAN_CHECKS_H_
#define HEADRACE_ENGINE_PLAN_PLAN_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/plan/plan_node.h"
#include "engine/plan/shard_assignment.h"

namespace headrace {

// The error, with the name of the node and the line of the script that made it.
absl::Status ErrorAt(const PlanNode& node, absl::Status status);

// kUnsupported or kGraph where the rows cannot be sharded as asked.
absl::Status CheckShards(const PlanNode& root, const ShardAssignment& shard);

// kState where no checkpoint of these operators has such counters: those of a state come from outside.
absl::Status CheckCounters(const PlanNode& root, const ShardAssignment& shard, absl::Span<const uint64_t> counters);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_PLAN_CHECKS_H_
