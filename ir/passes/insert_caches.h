// Marks the places in maps at which a cache may stand: before the first step and after each one, as long as all that
// is done to a row up to there gives the same in every epoch. Between the source and the map there may be what drops,
// repeats or shuffles rows, for a row is kept as what the source has it for. It changes nothing else: whether a cache
// comes to stand at one of them is settled when the first rows were measured (engine/cache/automatic_cache.h).
#ifndef HEADRACE_IR_PASSES_INSERT_CACHES_H_
#define HEADRACE_IR_PASSES_INSERT_CACHES_H_

#include "absl/status/statusor.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> InsertCaches(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_INSERT_CACHES_H_
