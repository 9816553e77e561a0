// What comes to a cache: a name for it, how many rows, and whether any of them comes twice.
// Pure functions.
#ifndef HEADRACE_ENGINE_CACHE_CACHE_CONTENT_H_
#define HEADRACE_ENGINE_CACHE_CACHE_CONTENT_H_

#include <cstdint>
#include <string>

#include "engine/cache/automatic_cache.h"
#include "engine/operator/epoch_range.h"
#include "engine/plan/plan_node.h"
#include "engine/plan/shard_assignment.h"
#include "ir/graph.pb.h"

namespace headrace {

// Names what comes to a cache: two that differ in any row have two names. `graph` holds its node.
std::string ContentOf(const PlanNode& cache, const ir::proto::Graph& graph, uint64_t seed,
                      const ShardAssignment& shard);
// Names the rows at all points of a map together.
std::string ContentOfCachePoints(const PlanNode& map, const AutomaticCache& cache, const ir::proto::Graph& graph);

// Its rows depend on the seed. Where they are known by key, their order does not count.
bool Draws(const PlanNode& instance, bool by_key);
// The instance, or one below it, calls the user's Python.
bool CallsPython(const PlanNode& instance);
// Rows that come from files, or pixels that are moved, may be worth keeping; all else is made as fast as found.
bool MayBeHeavy(const PlanNode& instance);

// The others are about an instance that SourceOfRows knows a source of.

// A window of rows waits between it and the source.
bool ShufflesBelow(const PlanNode& instance);
// Rows of the source that come to it in all epochs, as far as is known: no more than these, and at least 1.
uint64_t RowsThatCome(const PlanNode& instance, const ShardAssignment& shard);
// No row of the source, or hardly one, comes to it twice. `epochs` are its own.
bool MeetsRowsOnce(const PlanNode& instance, EpochRange epochs, const ShardAssignment& shard);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_CACHE_CONTENT_H_
