#include "engine/plan/physical_plan.h"

#include <algorithm>

namespace headrace {

ExpectedMemory ExpectedMemoryOf(const PhysicalPlan& plan) {
  ExpectedMemory expected;
  for (const PlannedStage& stage : plan.stages) {
    expected.all_known &= stage.row_bytes >= 0;
    expected.bytes += std::max<int64_t>(0, stage.row_bytes) * stage.window;
  }
  expected.bytes = std::min(expected.bytes, plan.memory);
  return expected;
}

}  // namespace headrace
