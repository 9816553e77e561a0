#include "ir/canonical.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/orders.h"
#include "ir/salts.h"
#include "ir/suggestion.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

const std::string& NameOf(const proto::Node& node) { return node.op(); }
const std::string& NameOf(const proto::Step& step) { return step.kernel(); }

// Attributes in the form of the upgrade functions.
using Named = std::vector<std::pair<std::string, proto::Value>>;

template <typename Operator>
absl::Status UpgradeOnce(const Declaration& declaration, Operator& op) {
  const int from = static_cast<int>(op.version());
  if (declaration.upgrade == nullptr) {
    const std::string_view plugin = PluginOf(declaration.name);
    return GraphError("the graph holds version ", from, " of ", declaration.name, ", which ",
                      plugin.empty() ? "this Headrace" : Cat("the plugin ", plugin), " (version ", declaration.version,
                      ") can no longer read");
  }
  Named attributes;
  for (const proto::Attribute& attribute : op.attributes())
    attributes.emplace_back(attribute.name(), attribute.value());
  if (const absl::Status refused = declaration.upgrade(from, attributes); !refused.ok()) {
    return GraphError("the graph holds version ", from, " of ", declaration.name, ", and this Headrace version ",
                      declaration.version, ": ", refused.message());
  }
  op.clear_attributes();
  for (auto& [name, value] : attributes) {
    proto::Attribute* added = op.add_attributes();
    added->set_name(name);
    *added->mutable_value() = std::move(value);
  }
  op.set_version(from + 1);
  return absl::OkStatus();
}

template <typename Operator>
absl::Status Upgrade(const Declaration& declaration, Operator& op) {
  const auto today = static_cast<uint32_t>(declaration.version);
  if (op.version() == 0) op.set_version(today);
  while (op.version() < today) HEADRACE_RETURN_IF_ERROR(UpgradeOnce(declaration, op));
  return absl::OkStatus();
}

template <typename Operator>
proto::Attribute* FindAttribute(Operator& op, const std::string& name) {
  for (proto::Attribute& attribute : *op.mutable_attributes()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

template <typename Operator>
absl::Status WriteOut(const Attribute& declared, Operator& op) {
  proto::Attribute* present = FindAttribute(op, declared.name);
  if (present != nullptr) {
    FitValue(declared, *present->mutable_value());
    return absl::OkStatus();
  }
  if (!declared.default_value.has_value()) return absl::OkStatus();
  HEADRACE_ASSIGN_OR_RETURN(proto::Value value, DefaultValue(declared));
  proto::Attribute* added = op.add_attributes();
  added->set_name(declared.name);
  *added->mutable_value() = std::move(value);
  return absl::OkStatus();
}

template <typename Operator>
absl::Status CanonicalizeOperator(Operator& op) {
  const Declaration* declaration = Registry::Global().Find(NameOf(op));
  if (declaration != nullptr) {
    HEADRACE_RETURN_IF_ERROR(Upgrade(*declaration, op));
    for (const Attribute& declared : declaration->attributes) HEADRACE_RETURN_IF_ERROR(WriteOut(declared, op));
  }
  auto* attributes = op.mutable_attributes();
  std::stable_sort(attributes->begin(), attributes->end(),
                   [](const proto::Attribute& a, const proto::Attribute& b) { return a.name() < b.name(); });
  return absl::OkStatus();
}

absl::Status CanonicalizeSteps(Steps& steps) {
  for (proto::Step& step : steps) {
    HEADRACE_RETURN_IF_ERROR(CanonicalizeOperator(step));
    for (proto::Branch& branch : *step.mutable_branches()) {
      HEADRACE_RETURN_IF_ERROR(CanonicalizeSteps(*branch.mutable_steps()));
    }
  }
  return absl::OkStatus();
}

// What passes write in a graph.
void ClearMarks(proto::Graph& graph) {
  for (proto::Node& node : *graph.mutable_nodes()) {
    node.clear_grouped();
    node.clear_cache_points();
    VisitSteps(node.mutable_steps(), [](proto::Step& step) { step.clear_fused(); });
  }
}

void ClearGroups(proto::Graph& graph) {
  for (proto::Node& node : *graph.mutable_nodes()) {
    VisitSteps(node.mutable_steps(), [](proto::Step& step) { step.clear_group(); });
  }
}

}  // namespace

absl::Status Canonicalize(proto::Graph& graph) {
  if (graph.format() == 0) graph.set_format(kFormat);
  HEADRACE_RETURN_IF_ERROR(CheckChoosers(graph));
  HEADRACE_RETURN_IF_ERROR(CheckVersions(graph));
  HEADRACE_RETURN_IF_ERROR(WriteOutOperators(graph));
  ClearMarks(graph);
  PutOrdersAbove(graph);
  // Before nodes are copied, because a copy is the same operator.
  HEADRACE_RETURN_IF_ERROR(GiveSalts(graph));
  ClearGroups(graph);
  PutChoicesBelow(graph);
  return absl::OkStatus();
}

absl::Status WriteOutOperators(proto::Graph& graph) {
  for (proto::Node& node : *graph.mutable_nodes()) {
    HEADRACE_RETURN_IF_ERROR(CanonicalizeOperator(node));
    HEADRACE_RETURN_IF_ERROR(CanonicalizeSteps(*node.mutable_steps()));
  }
  return absl::OkStatus();
}

}  // namespace headrace::ir
