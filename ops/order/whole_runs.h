// `CheckWholeRuns` checks that operators that leave out rows at the ends of an epoch keep runs whole
// (IndexedProperties::run_length).
// Threads: pure functions.
#ifndef HEADRACE_OPS_ORDER_WHOLE_RUNS_H_
#define HEADRACE_OPS_ORDER_WHOLE_RUNS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "core/error.h"
#include "engine/operator/operator.h"

namespace headrace {

// kGraph if the first `count` rows end within a run of `length`.
inline absl::Status CheckWholeRuns(uint64_t length, uint64_t count) {
  if (count % length == 0) return absl::OkStatus();
  return GraphError("has a count of ", count, " rows, which would cut the groups of ", length,
                    " that the sampler below it gives; use a multiple of ", length);
}

// Those of the input, which may have fewer rows.
inline absl::Status CheckWholeRuns(const IndexedSource& input, uint64_t count) {
  return count >= input.size() ? absl::OkStatus() : CheckWholeRuns(input.properties().run_length, count);
}

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_WHOLE_RUNS_H_
