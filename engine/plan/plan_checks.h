// `CheckShards` and its neighbours check that a graph allows the requested run: its shards, the checkpoint from
// which it continues, and its ranges of batches.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_PLAN_PLAN_CHECKS_H_
#define HEADRACE_ENGINE_PLAN_PLAN_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/plan/plan_node.h"
#include "engine/plan/shard_assignment.h"

namespace headrace {

// Adds the name of the node, and the line of the script that made it, to the error.
absl::Status ErrorAt(const PlanNode& node, absl::Status status);

// kUnsupported or kGraph if the rows cannot be sharded as requested.
absl::Status CheckShards(const PlanNode& root, const ShardAssignment& shard);

// kGraph if rows that stay together in runs meet an operator that takes them apart, or a batch that cuts a run.
absl::Status CheckRuns(const PlanNode& root);

// kUnsupported if rows that fail cannot be skipped in this graph, or not with these shards.
absl::Status CheckSkipping(const PlanNode& root, const ShardAssignment& shard);

// kUnsupported, with the operator, if the number of a batch of the result does not say which rows it has, or these have
// to be sought from the start.
absl::Status CheckRanges(const PlanNode& root, bool skips_failed);

// kState if no checkpoint of these operators has such counters: those of a state are untrusted.
absl::Status CheckCounters(const PlanNode& root, const ShardAssignment& shard, absl::Span<const uint64_t> counters);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_PLAN_CHECKS_H_
