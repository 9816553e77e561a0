// `InsertCaches` is a pass that marks cache points in maps: before the first step and after each one, as long as all
// steps up to there give the same result in every epoch. Operators between the source and the map may drop, repeat or
// shuffle rows, because a row is cached under its key in the source. Nothing else changes: the engine chooses one of
// the cache points, or none, once the first rows were measured (engine/cache/automatic_cache.h).
// Threads: a pure function.
#ifndef HEADRACE_IR_PASSES_INSERT_CACHES_H_
#define HEADRACE_IR_PASSES_INSERT_CACHES_H_

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> InsertCaches(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_INSERT_CACHES_H_
