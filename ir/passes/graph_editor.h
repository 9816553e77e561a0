// `GraphEditor` is a graph that a pass is rewriting. Operators are swapped and removed one at a time, and every edit
// preserves the invariants: the inputs of other nodes, the columns, and the point where rows are sharded among ranks.
// Threads: used by one thread.
#ifndef HEADRACE_IR_PASSES_GRAPH_EDITOR_H_
#define HEADRACE_IR_PASSES_GRAPH_EDITOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"
#include "ir/type.h"

namespace headrace::ir {

// A node id is a number below size(), inputs below their users; an edit may change or remove the node of an id.
class GraphEditor {
 public:
  // From a valid canonical graph.
  static absl::StatusOr<GraphEditor> Of(const proto::Graph& graph);
  // The rewritten graph, canonical, of the nodes that the result needs.
  absl::StatusOr<proto::Graph> Finish() &&;

  int size() const { return static_cast<int>(nodes_.size()); }
  bool gone(int id) const { return gone_[id]; }
  // Whether rows that fail are skipped: then no pass may change which rows meet which operator.
  bool skip_failed() const { return frame_.has_skip_failed(); }
  const proto::Node& node(int id) const { return nodes_[id]; }
  proto::Node& mutable_node(int id) { return nodes_[id]; }
  const Declaration& declaration(int id) const;
  const Schema& schema(int id) const { return schemas_[id]; }
  std::vector<Schema> InputSchemas(int id) const;
  // The only input of the node, if nothing else uses it; else -1.
  int OwnInput(int id) const;
  // The node and all nodes below it only act on indices, so that rows are sharded among ranks above it.
  bool over_indices(int id) const { return over_indices_[id]; }

  // Connects the users of an operator of one input to that input. If an operator on indices would then be directly
  // above others, so that rows would be sharded elsewhere, a project of all columns replaces the operator.
  void Remove(int id);
  // Swaps the operator and its OwnInput, an operator of one input: the one at `id` moves below. Adds a project of all
  // columns below it if it would otherwise come to act on indices, so that rows would be sharded elsewhere. `above` and
  // `below` are the two operators after the swap, except for their inputs. Returns false without effect if their
  // columns do not match or differ from those before.
  bool Swap(int id, proto::Node above, proto::Node below);

 private:
  GraphEditor() = default;
  void FindOverIndices(int id);
  bool FeedsIndexed(int id) const;
  static proto::Node ProjectOf(const Schema& schema, const proto::Node& stands_for);

  proto::Graph frame_;  // without nodes
  std::vector<proto::Node> nodes_;
  std::vector<Schema> schemas_;
  std::vector<std::vector<int>> users_;
  std::vector<bool> gone_;
  std::vector<bool> over_indices_;
  std::vector<bool> walled_;  // there is a project of all columns between the node and its input
  int root_ = -1;
};

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_GRAPH_EDITOR_H_
