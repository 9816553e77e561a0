// Operators on indices that leave out rows at the ends of an epoch keep runs whole (IndexedProperties::run_length).
// A pure function.
#ifndef HEADRACE_OPS_ORDER_WHOLE_RUNS_H_
#define HEADRACE_OPS_ORDER_WHOLE_RUNS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "core/error.h"
#include "engine/operator/operator.h"

namespace headrace {

// kGraph if the first `count` rows of the input end within a run.
inline absl::Status CheckWholeRuns(const IndexedSource& input, uint64_t count) {
  const uint64_t length = input.properties().run_length;
  if (count % length == 0 || count >= input.size()) return absl::OkStatus();
  return GraphError("has a count of ", count, " rows, which would cut the groups of ", length,
                    " that the sampler below it gives; use a multiple of ", length);
}

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_WHOLE_RUNS_H_
