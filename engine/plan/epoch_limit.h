// `LastEpochOf` gives the last epoch that can be counted: repeats number the passes of all epochs one after the other,
// in 64 bits.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_PLAN_EPOCH_LIMIT_H_
#define HEADRACE_ENGINE_PLAN_EPOCH_LIMIT_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "engine/plan/plan_node.h"

namespace headrace {

// The last epoch of which every pass of every repeat below has a number; nullopt: even the first has none.
std::optional<uint64_t> LastEpochOf(const PlanNode& node);

// The error (kUnsupported) for an epoch beyond `last`, the result of LastEpochOf.
absl::Status UncountedEpoch(uint64_t epoch, std::optional<uint64_t> last);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_EPOCH_LIMIT_H_
