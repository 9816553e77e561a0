// `NumberedSource` and its neighbours say what the number of a batch of the result tells of the rows below it, where
// FirstInexact finds nothing.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_PLAN_BATCH_NUMBERS_H_
#define HEADRACE_ENGINE_PLAN_BATCH_NUMBERS_H_

#include <cstdint>
#include <vector>

#include "engine/plan/plan_node.h"
#include "engine/plan/shard_assignment.h"

namespace headrace {

// The node that gives the rows: a source, or an operator on the indices of several.
const PlanNode& NumberedSource(const PlanNode& root);
// Rows in a full message of the result.
uint64_t BatchSizeOf(const PlanNode& root);
// The counters of a checkpoint that number batches: of a batch's own counters all but the last, which counts rows of a
// message.
std::vector<int> BatchNumberCounters(const PlanNode& root);

// The rows of the result that an epoch has for the rank; of any graph.
Cardinality RowsOfRank(const PlanNode& node, const ShardAssignment& shard);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_BATCH_NUMBERS_H_
