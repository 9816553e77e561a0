#include "ir/branches.h"

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/parameters.h"

namespace headrace::ir {
namespace {

// `depth`: how many choosers enclose the step.
absl::Status CheckDepth(const proto::Step& step, int depth) {
  if (step.branches().empty()) return absl::OkStatus();
  if (depth == kDeepestChoosers) return TooDeepChoosers(step.kernel());
  for (const proto::Branch& branch : step.branches()) {
    for (const proto::Step& nested : branch.steps()) HEADRACE_RETURN_IF_ERROR(CheckDepth(nested, depth + 1));
  }
  return absl::OkStatus();
}

}  // namespace

const Declaration* ChooserOf(const proto::Step& step) {
  const Declaration* const declaration = Registry::Global().Find(step.kernel());
  return declaration != nullptr && declaration->branching != nullptr ? declaration : nullptr;
}

absl::StatusOr<Branching> BranchingOfStep(const Declaration& chooser, const proto::Step& step) {
  if (step.branches().empty()) return GraphError("has no kernels to apply");
  const auto branches = static_cast<size_t>(step.branches_size());
  if (!ReadsParameter(step)) return chooser.branching(Attributes::Of(step), branches);
  // Whatever its parameters' values, a row may go through each branch. Examples may not fit the branches, and then it
  // may go through none; the values themselves are checked when they are bound.
  Branching any = {.drawn = std::vector<bool>(branches, true)};
  bool known = false;
  for (int i = 0; i < kExamples; ++i) {
    const absl::StatusOr<Branching> branching = chooser.branching(Attributes::Of(WithExamples(step, i)), branches);
    if (!branching.ok()) continue;
    known = true;
    any.several |= branching->several;
    any.none |= branching->none;
  }
  if (!known) {
    any.several = branches > 1;
    any.none = true;
  }
  return any;
}

absl::Status TooDeepChoosers(std::string_view chooser) {
  return GraphError(chooser, ": choosers are nested more than ", kDeepestChoosers, " deep");
}

absl::Status CheckChoosers(const proto::Graph& graph) {
  for (const proto::Node& node : graph.nodes()) {
    for (const proto::Step& step : node.steps()) HEADRACE_RETURN_IF_ERROR(CheckDepth(step, 0));
  }
  return absl::OkStatus();
}

}  // namespace headrace::ir
