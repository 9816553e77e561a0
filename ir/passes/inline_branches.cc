#include "ir/passes/inline_branches.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "ir/branches.h"
#include "ir/graph.pb.h"

namespace headrace::ir {
namespace {

bool InPlace(const proto::Step& step) {
  return std::equal(step.inputs().begin(), step.inputs().end(), step.outputs().begin(), step.outputs().end());
}

bool DrawsNone(const Branching& branching) {
  return branching.none && std::count(branching.drawn.begin(), branching.drawn.end(), true) == 0;
}

absl::Status Inline(const Steps& steps, Steps& result);

absl::Status InlineStep(const proto::Step& step, Steps& result) {
  const Declaration* const chooser = ChooserOf(step);
  if (chooser == nullptr) {
    *result.Add() = step;
    return absl::OkStatus();
  }
  HEADRACE_ASSIGN_OR_RETURN(const Branching branching, BranchingOfStep(*chooser, step));
  if (InPlace(step) && DrawsNone(branching)) return absl::OkStatus();
  const int certain = branching.certain();
  if (InPlace(step) && certain >= 0) {
    Steps branch = step.branches(certain).steps();
    for (proto::Step& nested : branch) {
      if (!nested.has_location() && step.has_location()) *nested.mutable_location() = step.location();
    }
    return Inline(branch, result);
  }
  proto::Step inlined = step;
  for (int i = 0; i < step.branches_size(); ++i) {
    inlined.mutable_branches(i)->clear_steps();
    HEADRACE_RETURN_IF_ERROR(Inline(step.branches(i).steps(), *inlined.mutable_branches(i)->mutable_steps()));
  }
  *result.Add() = std::move(inlined);
  return absl::OkStatus();
}

absl::Status Inline(const Steps& steps, Steps& result) {
  for (const proto::Step& step : steps) HEADRACE_RETURN_IF_ERROR(InlineStep(step, result));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<proto::Graph> InlineBranches(const proto::Graph& graph) {
  proto::Graph result = graph;
  for (int i = 0; i < graph.nodes_size(); ++i) {
    Steps* const steps = result.mutable_nodes(i)->mutable_steps();
    steps->Clear();
    HEADRACE_RETURN_IF_ERROR(Inline(graph.nodes(i).steps(), *steps));
  }
  return result;
}

}  // namespace headrace::ir
