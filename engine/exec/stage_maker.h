// `MakeStages` makes the stages of a plan, and starts their operators where the plan says.
// Threads: used by the thread that makes the pipeline.
#ifndef HEADRACE_ENGINE_EXEC_STAGE_MAKER_H_
#define HEADRACE_ENGINE_EXEC_STAGE_MAKER_H_

#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/exec/run_control.h"
#include "engine/exec/stage.h"
#include "engine/plan/physical_plan.h"
#include "engine/plan/plan_node.h"

namespace headrace {

// In the plan's order. `nodes` hold the plan's operators, whose caches are open; the operators are moved to the stages.
// `plan` and `control` must outlive the stages.
std::vector<std::unique_ptr<Stage>> MakeStages(const PhysicalPlan& plan, absl::Span<PlanNode* const> nodes,
                                               RunControl* control);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STAGE_MAKER_H_
