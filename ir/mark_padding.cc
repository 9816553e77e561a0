#include "ir/mark_padding.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "ir/declaration.h"
#include "ir/passes/column_ops.h"

namespace headrace::ir {
namespace {

proto::Value* FindAttribute(proto::Node& node, std::string_view name) {
  for (proto::Attribute& attribute : *node.mutable_attributes()) {
    if (attribute.name() == name) return attribute.mutable_value();
  }
  return nullptr;
}

// Adds the name once: a node that two operators use is visited twice.
void AddName(proto::Texts& names, const std::string& name) {
  if (std::find(names.values().begin(), names.values().end(), name) == names.values().end()) names.add_values(name);
}

// Returns whether the node has the column.
bool Mark(proto::Graph& graph, int at) {
  proto::Node& node = *graph.mutable_nodes(at);
  const Declaration* const declaration = Registry::Global().Find(node.op());
  const bool side_by_side = declaration != nullptr && declaration->traits.side_by_side;
  bool marked = false;
  for (int i = 0; i < node.inputs_size(); ++i) {
    if (i == 0 || !side_by_side) marked |= Mark(graph, static_cast<int>(node.inputs(i)));
  }
  proto::Value* const marks = FindAttribute(node, "mark_padding");
  if (marks != nullptr && !marked) {
    marks->set_boolean(true);
    return true;
  }
  if (node.op() == kProjectOp && marked) AddName(*FindAttribute(node, "columns")->mutable_texts(), "_pad");
  return marked;
}

}  // namespace

void MarkPadding(proto::Graph& graph) { Mark(graph, graph.nodes_size() - 1); }

}  // namespace headrace::ir
