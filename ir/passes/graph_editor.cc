#include "ir/passes/graph_editor.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "ir/canonical.h"
#include "ir/infer.h"
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
  for (int place = 0; place < editor.size(); ++place) {
    for (const uint32_t input : editor.nodes_[place].inputs()) editor.users_[input].push_back(place);
    editor.FindOverIndices(place);
  }
  return editor;
}

const Declaration& GraphEditor::declaration(int place) const {
  return *Registry::Global().Find(nodes_[place].op());  // valid graphs have no others
}

std::vector<Schema> GraphEditor::InputSchemas(int place) const {
  std::vector<Schema> inputs;
  for (const uint32_t input : nodes_[place].inputs()) inputs.push_back(schemas_[input]);
  return inputs;
}

int GraphEditor::OwnInput(int place) const {
  if (nodes_[place].inputs_size() != 1 || walled_[place]) return -1;
  const int input = static_cast<int>(nodes_[place].inputs(0));
  return users_[input].size() == 1 ? input : -1;
}

void GraphEditor::FindOverIndices(int place) {
  const auto& inputs = nodes_[place].inputs();
  over_indices_[place] =
      !walled_[place] && declaration(place).traits.indexed &&
      std::all_of(inputs.begin(), inputs.end(), [&](uint32_t input) { return over_indices_[input]; });
}

bool GraphEditor::FeedsIndexed(int place) const {
  return std::any_of(users_[place].begin(), users_[place].end(),
                     [&](int user) { return declaration(user).traits.indexed; });
}

void GraphEditor::Remove(int place) {
  const int input = static_cast<int>(nodes_[place].inputs(0));
  const bool moves_dealing = over_indices_[input] && !over_indices_[place] && FeedsIndexed(place);
  if (moves_dealing) {
    const proto::Node wall = ProjectOf(schemas_[input], nodes_[place]);
    nodes_[place] = wall;
    nodes_[place].add_inputs(static_cast<uint32_t>(input));
    walled_[place] = false;
    return;
  }
  std::vector<int>& users = users_[input];
  users.erase(std::find(users.begin(), users.end(), place));
  for (const int user : users_[place]) {
    for (uint32_t& of_user : *nodes_[user].mutable_inputs()) {
      if (of_user == static_cast<uint32_t>(place)) of_user = static_cast<uint32_t>(input);
    }
  }
  users.insert(users.end(), users_[place].begin(), users_[place].end());
  users_[place].clear();
  gone_[place] = true;
  if (root_ == place) root_ = input;
}

bool GraphEditor::TradePlaces(int place, proto::Node above, proto::Node below) {
  const int lower = OwnInput(place);
  const auto source = static_cast<int>(nodes_[lower].inputs(0));
  const absl::StatusOr<Schema> middle = InferNode(below, {schemas_[source]});
  if (!middle.ok()) return false;
  const absl::StatusOr<Schema> top = InferNode(above, {*middle});
  if (!top.ok() || *top != schemas_[place]) return false;
  below.mutable_inputs()->Clear();
  below.add_inputs(static_cast<uint32_t>(source));
  above.mutable_inputs()->Clear();
  above.add_inputs(static_cast<uint32_t>(lower));
  nodes_[lower] = std::move(below);
  nodes_[place] = std::move(above);
  schemas_[lower] = *middle;
  walled_[lower] = walled_[lower] || (declaration(lower).traits.indexed && over_indices_[source]);
  FindOverIndices(lower);
  FindOverIndices(place);
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
  for (int place = 0; place <= root_; ++place) *all.add_nodes() = nodes_[place];
  std::vector<int> needed = PostOrder(all);
  // Leaves operators where they stood, as far as they are needed.
  std::sort(needed.begin(), needed.end());
  proto::Graph graph = frame_;
  std::vector<uint32_t> position(nodes_.size());
  for (const int place : needed) {
    proto::Node node = nodes_[place];
    for (uint32_t& input : *node.mutable_inputs()) input = position[input];
    if (walled_[place]) {
      proto::Node wall = ProjectOf(schemas_[nodes_[place].inputs(0)], node);
      wall.add_inputs(node.inputs(0));
      *graph.add_nodes() = std::move(wall);
      node.set_inputs(0, static_cast<uint32_t>(graph.nodes_size() - 1));
    }
    *graph.add_nodes() = std::move(node);
    position[place] = static_cast<uint32_t>(graph.nodes_size() - 1);
  }
  HEADRACE_RETURN_IF_ERROR(Canonicalize(graph));
  return graph;
}

}  // namespace headrace::ir
