#include "ir/passes/graph_editor.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "ir/canonical.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/node_traits.h"
#include "ir/passes/column_ops.h"
#include "ir/post_order.h"
#include "ir/value.h"

namespace headrace::ir {

absl::StatusOr<GraphEditor> GraphEditor::Of(const proto::Graph& graph) {
  GraphEditor editor;
  HEADRACE_ASSIGN_OR_RETURN(editor.schemas_, InferSchemas(graph));
  editor.frame_ = graph;
  editor.frame_.clear_nodes();
  editor.nodes_.assign(graph.nodes().begin(), graph.nodes().end());
  editor.root_ = graph.nodes_size() - 1;
  const size_t size = editor.nodes_.size();
  editor.users_.resize(size);
  editor.gone_.resize(size);
  editor.over_indices_.resize(size);
  editor.walled_.resize(size);
  for (int id = 0; id < editor.size(); ++id) {
    for (const uint32_t input : editor.nodes_[id].inputs()) editor.users_[input].push_back(id);
    editor.FindOverIndices(id);
  }
  return editor;
}

const Declaration& GraphEditor::declaration(int id) const {
  return *Registry::Global().Find(nodes_[id].op());  // valid graphs have no others
}

std::vector<Schema> GraphEditor::InputSchemas(int id) const {
  std::vector<Schema> inputs;
  for (const uint32_t input : nodes_[id].inputs()) inputs.push_back(schemas_[input]);
  return inputs;
}

int GraphEditor::OwnInput(int id) const {
  if (nodes_[id].inputs_size() != 1 || walled_[id]) return -1;
  const int input = static_cast<int>(nodes_[id].inputs(0));
  return users_[input].size() == 1 ? input : -1;
}

void GraphEditor::FindOverIndices(int id) {
  const auto& inputs = nodes_[id].inputs();
  over_indices_[id] = !walled_[id] && TraitsOf(nodes_[id]).indexed &&
                      std::all_of(inputs.begin(), inputs.end(), [&](uint32_t input) { return over_indices_[input]; });
}

bool GraphEditor::FeedsIndexed(int id) const {
  return std::any_of(users_[id].begin(), users_[id].end(), [&](int user) { return TraitsOf(nodes_[user]).indexed; });
}

void GraphEditor::Remove(int id) {
  const int input = static_cast<int>(nodes_[id].inputs(0));
  const bool moves_sharding = over_indices_[input] && !over_indices_[id] && FeedsIndexed(id);
  if (moves_sharding) {
    const proto::Node wall = ProjectOf(schemas_[input], nodes_[id]);
    nodes_[id] = wall;
    nodes_[id].add_inputs(static_cast<uint32_t>(input));
    walled_[id] = false;
    return;
  }
  std::vector<int>& users = users_[input];
  users.erase(std::find(users.begin(), users.end(), id));
  for (const int user : users_[id]) {
    for (uint32_t& of_user : *nodes_[user].mutable_inputs()) {
      if (of_user == static_cast<uint32_t>(id)) of_user = static_cast<uint32_t>(input);
    }
  }
  users.insert(users.end(), users_[id].begin(), users_[id].end());
  users_[id].clear();
  gone_[id] = true;
  if (root_ == id) root_ = input;
}

bool GraphEditor::Swap(int id, proto::Node above, proto::Node below) {
  const int lower = OwnInput(id);
  const auto source = static_cast<int>(nodes_[lower].inputs(0));
  const absl::StatusOr<Schema> middle = InferNode(below, {schemas_[source]});
  if (!middle.ok()) return false;
  const absl::StatusOr<Schema> top = InferNode(above, {*middle});
  if (!top.ok() || *top != schemas_[id]) return false;
  below.mutable_inputs()->Clear();
  below.add_inputs(static_cast<uint32_t>(source));
  above.mutable_inputs()->Clear();
  above.add_inputs(static_cast<uint32_t>(lower));
  nodes_[lower] = std::move(below);
  nodes_[id] = std::move(above);
  schemas_[lower] = *middle;
  walled_[lower] = walled_[lower] || (TraitsOf(nodes_[lower]).indexed && over_indices_[source]);
  FindOverIndices(lower);
  FindOverIndices(id);
  return true;
}

proto::Node GraphEditor::ProjectOf(const Schema& schema, const proto::Node& stands_for) {
  proto::Node project;
  project.set_op(std::string(kProjectOp));
  *project.mutable_location() = stands_for.location();
  project.set_user_node(stands_for.user_node());
  proto::Attribute* columns = project.add_attributes();
  columns->set_name(std::string(kProjectColumns));
  *columns->mutable_value() = StringsValue(schema.Names());
  return project;
}

absl::StatusOr<proto::Graph> GraphEditor::Finish() && {
  proto::Graph all = frame_;
  for (int id = 0; id <= root_; ++id) *all.add_nodes() = nodes_[id];
  std::vector<int> needed = PostOrder(all);
  // Keeps the order of the operators that are still needed.
  std::sort(needed.begin(), needed.end());
  proto::Graph graph = frame_;
  std::vector<uint32_t> position(nodes_.size());
  for (const int id : needed) {
    proto::Node node = nodes_[id];
    for (uint32_t& input : *node.mutable_inputs()) input = position[input];
    if (walled_[id]) {
      proto::Node wall = ProjectOf(schemas_[nodes_[id].inputs(0)], node);
      wall.add_inputs(node.inputs(0));
      *graph.add_nodes() = std::move(wall);
      node.set_inputs(0, static_cast<uint32_t>(graph.nodes_size() - 1));
    }
    *graph.add_nodes() = std::move(node);
    position[id] = static_cast<uint32_t>(graph.nodes_size() - 1);
  }
  HEADRACE_RETURN_IF_ERROR(WriteOutOperators(graph));
  return graph;
}

}  // namespace headrace::ir
