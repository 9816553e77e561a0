// `PlanText` writes a plan as text: a line for each stage, then the caches, then the expected memory.
// Threads: a pure function.
#ifndef HEADRACE_ENGINE_PLAN_PLAN_TEXT_H_
#define HEADRACE_ENGINE_PLAN_PLAN_TEXT_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "engine/plan/physical_plan.h"

namespace headrace {

std::string PlanText(const PhysicalPlan& plan);

// A stage's name, indented by its depth below the user.
std::string TreeName(std::string_view name, int depth);
// The width of a column of such names, with two spaces after the longest.
template <typename Stages>
size_t NameWidth(const Stages& stages) {
  size_t width = 20;
  for (const auto& stage : stages) {
    width = std::max(width, stage.name.size() + 3 * static_cast<size_t>(stage.depth) + 2);
  }
  return width;
}
// Pads to a width in characters; "└" and "─" take three bytes each.
std::string Padded(const std::string& text, size_t width);
// "fixed by map[1]: workers=2 (4 without it)"; "" if the user fixed nothing. `workers`: the plan's.
std::string LimitsText(const PlannedLimits& limits, int workers);
// "workers", "reads files" or "Python thread".
std::string_view LaneName(Lane lane);
// "indexed source", "stream source", "row" or "stream".
std::string_view KindName(PlannedStage::Kind kind);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_PLAN_TEXT_H_
