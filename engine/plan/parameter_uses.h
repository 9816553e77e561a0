// `TellReaders` registers with each parameter where the plan's operators read it; `ValuesInFirstEpoch` gives parameter
// values for the names of caches.
// Threads: pure functions, apart from the parameters' own code.
#ifndef HEADRACE_ENGINE_PLAN_PARAMETER_USES_H_
#define HEADRACE_ENGINE_PLAN_PARAMETER_USES_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/plan/plan_node.h"

namespace headrace {

// Tells all parameters which operators at and below `root`, the result, read them.
void TellReaders(const PlanNode& root);
// Whether the node, or one below it, reads parameters.
bool ReadsParameters(const PlanNode& node);
// The values that decide the node's rows in epoch 0: " parameter strength from 0 0.5". kGraph: they are those of an
// endless repeat. Else: errors of user code.
absl::StatusOr<std::string> ValuesInFirstEpoch(const PlanNode& node);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_PARAMETER_USES_H_
