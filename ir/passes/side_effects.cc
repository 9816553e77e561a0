#include "ir/passes/side_effects.h"

#include <algorithm>

#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"
#include "ir/node_traits.h"

namespace headrace::ir {
namespace {

bool Refers(const proto::Node& node) {
  return std::any_of(node.attributes().begin(), node.attributes().end(),
                     [](const proto::Attribute& attribute) { return attribute.value().has_reference(); });
}

bool InOrder(const proto::Step& step) {
  const Declaration* declaration = Registry::Global().Find(step.kernel());
  if (declaration == nullptr || declaration->traits.ordered) return true;
  return std::any_of(step.attributes().begin(), step.attributes().end(), [](const proto::Attribute& attribute) {
    return attribute.name() == "ordered" && attribute.value().boolean();
  });
}

}  // namespace

bool ActsBesides(const proto::Step& step) {
  return AnyStepOf(step, [](const proto::Step& each) {
    const Declaration* declaration = Registry::Global().Find(each.kernel());
    if (declaration == nullptr) return true;
    return declaration->traits.python || !(declaration->traits.deterministic || declaration->traits.random);
  });
}

bool ActsBesides(const proto::Node& node) {
  const Declaration* declaration = Registry::Global().Find(node.op());
  if (declaration == nullptr || declaration->traits.python || Refers(node)) return true;
  if (!declaration->traits.deterministic && !declaration->traits.random) return true;
  return std::any_of(node.steps().begin(), node.steps().end(), [](const auto& step) { return ActsBesides(step); });
}

bool CallsPython(const proto::Step& step) {
  const Declaration* declaration = Registry::Global().Find(step.kernel());
  return declaration == nullptr || declaration->traits.python;
}

bool CallsPython(const proto::Node& node) {
  const Declaration* declaration = Registry::Global().Find(node.op());
  if (declaration == nullptr || declaration->traits.python || Refers(node)) return true;
  return std::any_of(node.steps().begin(), node.steps().end(), [](const auto& step) { return CallsPython(step); });
}

bool ReadsFiles(const proto::Step& step) {
  return AnyStepOf(step, [](const proto::Step& each) { return TraitsOf(each).file_io; });
}

bool ReadsFiles(const proto::Node& node) {
  return std::any_of(node.steps().begin(), node.steps().end(), [](const auto& step) { return ReadsFiles(step); });
}

bool CallsInOrder(const proto::Node& node) {
  if (!CallsPython(node)) return false;
  const bool by_steps = Registry::Global().Find(node.op()) != nullptr && !node.steps().empty();
  // A function of another operator than map is called in order: there is no attribute to say otherwise.
  if (!by_steps) return true;
  return std::any_of(node.steps().begin(), node.steps().end(),
                     [](const proto::Step& step) { return CallsPython(step) && InOrder(step); });
}

}  // namespace headrace::ir
