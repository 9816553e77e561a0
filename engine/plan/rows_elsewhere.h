// `TakeRowsElsewhere` has the rows of a graph made elsewhere, as far up as they are found by their numbers: by others,
// who make the same rows of the same data, and of whom the host asks for them. Identities of rows, the order of
// numbers, and so draws above, states and fingerprints, are those of the sources here, of which no row is read.
// Threads: used by the thread that prepares a graph.
#ifndef HEADRACE_ENGINE_PLAN_ROWS_ELSEWHERE_H_
#define HEADRACE_ENGINE_PLAN_ROWS_ELSEWHERE_H_

#include <memory>

#include "absl/status/status.h"
#include "engine/operator/host.h"
#include "engine/plan/plan_node.h"

namespace headrace {

// `rows` has the row of each position of an epoch, of all ranks, with the columns in their order, and is given that
// epoch in the place of a key of random numbers: under `repeat` or a cache it is another than the run's. Rows that pad
// have the positions after the last one, and draws of their own. kUnsupported, naming the operator: no rows are found
// by their numbers.
absl::Status TakeRowsElsewhere(std::shared_ptr<HostRows> rows, std::unique_ptr<PlanNode>& root);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_ROWS_ELSEWHERE_H_
