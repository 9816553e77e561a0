// `ContentOf` and its neighbours describe the rows that come to a cache: a name for them, their number, and whether any
// comes twice.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_PLAN_CACHE_CONTENT_H_
#define HEADRACE_ENGINE_PLAN_CACHE_CONTENT_H_

#include <cstdint>
#include <string>

#include "engine/operator/epoch_range.h"
#include "engine/plan/plan_node.h"
#include "engine/plan/shard_assignment.h"
#include "ir/messages.h"

namespace headrace {

// A name for the rows that come to a cache: rows that differ have different names. `graph` contains its node.
std::string ContentOf(const PlanNode& cache, const ir::proto::Graph& graph, uint64_t seed,
                      const ShardAssignment& shard);
// A name for the rows at all cache points of a node.
std::string ContentOfCachePoints(const PlanNode& node, const ir::proto::Graph& graph);

// Whether its rows depend on the seed. If rows are identified by key, their order does not count.
bool Draws(const PlanNode& node, bool by_key);
// Whether the node, or one below it, calls the user's Python.
bool CallsPython(const PlanNode& node);
// Whether the node, or one below it, reads files that its rows name.
bool ReadsFilesOfRows(const PlanNode& node);
// Whether keeping its rows may pay: they come from files, or their pixels are moved. Other rows are made as fast as
// found.
bool MayBeHeavy(const PlanNode& node);

// Rows of the run's first epoch that a rank gets; the whole epoch's if `shard` is one of one.
uint64_t RowsOfRank(const IndexedSource& source, const ShardAssignment& shard);

// The following functions need a node with a source in SourceOfRows.

// Whether a window of rows waits between it and the source.
bool ShufflesBelow(const PlanNode& node);
// Rows of the source that come to it in all epochs, as far as known: an upper bound, at least 1.
uint64_t RowsThatCome(const PlanNode& node, const ShardAssignment& shard);
// Whether no row of the source, or hardly any, comes to it twice. `epochs` are its own.
bool MeetsRowsOnce(const PlanNode& node, EpochRange epochs, const ShardAssignment& shard);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_CACHE_CONTENT_H_
