// `StepAction` is what a row goes through at once: one step, or several that the optimizer marked, which one pass over
// the value does (FusedRun). Maps and chains of kernels plan their steps as actions and run them here; what a step is
// besides its kernel, a function, notes or a column's name, is their own. A step has `kernel`, `salt`, `fused` as in
// the graph, `by_frame` if it is given a clip frame by frame, and `inputs` and `outputs`, the numbers of its columns.
// Threads: made by one thread and const afterwards; RunAction from any thread.
#ifndef HEADRACE_KERNELS_STEP_ACTIONS_H_
#define HEADRACE_KERNELS_STEP_ACTIONS_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/error.h"
#include "core/output_allocator.h"
#include "core/row_id.h"
#include "core/tensor.h"
#include "kernels/by_frame.h"
#include "kernels/fused_run.h"

namespace headrace {

template <typename Step>
struct StepAction {
  absl::InlinedVector<const Step*, 4> steps = {};
  std::shared_ptr<const FusedRun> fused = nullptr;  // null: one step
  bool by_frame = false;                            // of the fused steps: they are given a clip frame by frame
  std::optional<size_t> last_of = {};               // the column that it is the last to write, if it is one alone
};

template <typename Step>
using StepActions = absl::InlinedVector<StepAction<Step>, 4>;

// Adds steps that may run as one: as few actions as passes over the value can be made of them. seed_of(step): what it
// draws from.
template <typename Step, typename SeedOf>
void AddActions(absl::Span<const Step* const> steps, const SeedOf& seed_of, StepActions<Step>& actions) {
  while (!steps.empty()) {
    absl::InlinedVector<FusedRun::Part, 8> parts;
    for (const Step* step : steps) parts.push_back({step->kernel.get(), seed_of(*step), step->salt});
    StepAction<Step> action;
    if (steps.size() > 1) action.fused = FuseRun(parts);
    const size_t count = action.fused == nullptr ? 1 : action.fused->parts();
    action.steps.assign(steps.begin(), steps.begin() + count);
    action.by_frame =
        std::any_of(action.steps.begin(), action.steps.end(), [](const Step* step) { return step->by_frame; });
    actions.push_back(std::move(action));
    steps.remove_prefix(count);
  }
}

// Finds the actions that are the last to write a column.
template <typename Step>
void NoteLastWriters(StepActions<Step>& actions) {
  absl::InlinedVector<size_t, 8> written;
  for (auto action = actions.rbegin(); action != actions.rend(); ++action) {
    const auto& outputs = action->steps.back()->outputs;
    for (const auto output : outputs) {
      const auto column = static_cast<size_t>(output);
      if (std::find(written.begin(), written.end(), column) != written.end()) continue;
      written.push_back(column);
      if (outputs.size() == 1) action->last_of = column;
    }
  }
}

// The actions of steps of columns, in the order in which they run. Steps of one number that follow each other on their
// column run at the position of the first.
template <typename Step, typename SeedOf>
StepActions<Step> ActionsOfColumns(absl::Span<const Step* const> steps, const SeedOf& seed_of) {
  absl::InlinedVector<absl::InlinedVector<const Step*, 4>, 4> runs;
  // The run that each column's next step of the same number joins.
  absl::InlinedVector<std::pair<size_t, size_t>, 4> open;
  const auto run_on = [&](size_t column) {
    return std::find_if(open.begin(), open.end(), [column](const auto& each) { return each.first == column; });
  };
  for (const Step* step : steps) {
    const auto at = step->fused == 0 ? open.end() : run_on(static_cast<size_t>(step->inputs[0]));
    if (at != open.end() && runs[at->second].back()->fused == step->fused) {
      runs[at->second].push_back(step);
      continue;
    }
    for (const auto* columns : {&step->inputs, &step->outputs}) {
      for (const auto column : *columns) {
        if (const auto ended = run_on(static_cast<size_t>(column)); ended != open.end()) open.erase(ended);
      }
    }
    if (step->fused != 0) open.emplace_back(static_cast<size_t>(step->inputs[0]), runs.size());
    runs.push_back({step});
  }
  StepActions<Step> actions;
  for (const auto& run : runs) AddActions(absl::MakeConstSpan(run), seed_of, actions);
  NoteLastWriters(actions);
  return actions;
}

// The pass of fused steps over a value.
template <typename Step>
absl::StatusOr<Tensor> ApplyFused(const StepAction<Step>& action, const Tensor& value, const RowId& id,
                                  OutputAllocator& output, RowNotes* notes) {
  return action.by_frame ? ApplyByFrame(*action.fused, value, id, output, notes)
                         : action.fused->Apply(value, id, output, notes);
}

// Runs an action for a row: run_fused(action, output) is false, with nothing changed, if the pass fails; then the steps
// one by one, by run_step(step, output), report what is wrong, and where. The last step's result is made by `output`.
template <typename Step, typename RunFused, typename RunStep>
absl::Status RunAction(const StepAction<Step>& action, OutputAllocator& output, const RunFused& run_fused,
                       const RunStep& run_step) {
  if (action.fused != nullptr && run_fused(action, output)) return absl::OkStatus();
  OutputAllocator intermediate;
  for (const Step* step : action.steps) {
    HEADRACE_RETURN_IF_ERROR(run_step(*step, step == action.steps.back() ? output : intermediate));
  }
  return absl::OkStatus();
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_STEP_ACTIONS_H_
