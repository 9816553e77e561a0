// `VisitSteps` visits the steps of a map together with those in the branches of its choosers.
// Threads: pure functions; CheckChoosers bounds their recursion.
#ifndef HEADRACE_IR_BRANCHES_H_
#define HEADRACE_IR_BRANCHES_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

using Steps = google::protobuf::RepeatedPtrField<proto::Step>;

// Calls visit(step) for each step, and then for those in its branches.
template <typename Visit>
void VisitSteps(const Steps& steps, const Visit& visit) {
  for (const proto::Step& step : steps) {
    visit(step);
    for (const proto::Branch& branch : step.branches()) VisitSteps(branch.steps(), visit);
  }
}
// The same for steps that the visit changes.
template <typename Visit>
void VisitSteps(Steps* steps, const Visit& visit) {
  for (proto::Step& step : *steps) {
    visit(step);
    for (proto::Branch& branch : *step.mutable_branches()) VisitSteps(branch.mutable_steps(), visit);
  }
}

// Whether the predicate holds for the step or for one in its branches.
template <typename Predicate>
bool AnyStepOf(const proto::Step& step, const Predicate& predicate) {
  if (predicate(step)) return true;
  for (const proto::Branch& branch : step.branches()) {
    for (const proto::Step& nested : branch.steps()) {
      if (AnyStepOf(nested, predicate)) return true;
    }
  }
  return false;
}

// The declaration of a step that is a chooser's; else null.
const Declaration* ChooserOf(const proto::Step& step);
// What the chooser does with the branches that it has. kGraph: it cannot have them.
absl::StatusOr<Branching> BranchingOfStep(const Declaration& chooser, const proto::Step& step);

// kGraph: the error of a chooser nested more than kDeepestChoosers deep (ir/graph_depth.h).
absl::Status TooDeepChoosers(std::string_view chooser);
// Returns that error if there is such a chooser. All other functions here require that there is none.
absl::Status CheckChoosers(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_BRANCHES_H_
