// A graph while a pass rewrites it. Operators trade places and go away one step at a time, and every step keeps what
// is easily broken: the inputs of the others, the columns, and the point where rows are dealt to ranks.
// Used by one thread.
#ifndef HEADRACE_IR_PASSES_GRAPH_EDITOR_H_
#define HEADRACE_IR_PASSES_GRAPH_EDITOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"
#include "ir/type.h"

namespace headrace::ir {

// A place is a number below size(), inputs below their users; what stands at a place may change, and go.
class GraphEditor {
 public:
  // Of a valid canonical graph.
  static absl::StatusOr<GraphEditor> Of(const proto::Graph& graph);
  // The rewritten graph, canonical, of the places that the result needs.
  absl::StatusOr<proto::Graph> Finish() &&;

  int size() const { return static_cast<int>(nodes_.size()); }
  bool gone(int place) const { return gone_[place]; }
  const proto::Node& node(int place) const { return nodes_[place]; }
  proto::Node& mutable_node(int place) { return nodes_[place]; }
  const Declaration& declaration(int place) const;
  const Schema& schema(int place) const { return schemas_[place]; }
  std::vector<Schema> InputSchemas(int place) const;
  // The only input of the place, where nothing else uses it; -1 otherwise.
  int OwnInput(int place) const;
  // The operator and all below it act on indices alone, so that rows are dealt to ranks above it.
  bool over_indices(int place) const { return over_indices_[place]; }

  // Lets the users of an operator of one input take that input. Where an operator on indices would come to stand right
  // above others, and rows be dealt elsewhere, a project of all columns takes the operator's place.
  void Remove(int place);
  // The operator and its OwnInput, an operator of one input, trade places: the one at `place` comes to stand below.
  // Puts a project of all columns below it where it would come to act on indices, and rows be dealt elsewhere.
  // `above` and `below` are the two as they shall be then, inputs apart. False, and nothing done, where their columns
  // do not go together or are not the same as before.
  bool TradePlaces(int place, proto::Node above, proto::Node below);

 private:
  GraphEditor() = default;
  void FindOverIndices(int place);
  bool FeedsIndexed(int place) const;
  static proto::Node ProjectOf(const Schema& schema, const proto::Node& stands_for);

  proto::Graph frame_;  // without nodes
  std::vector<proto::Node> nodes_;
  std::vector<Schema> schemas_;
  std::vector<std::vector<int>> users_;
  std::vector<bool> gone_;
  std::vector<bool> over_indices_;
  std::vector<bool> walled_;  // a project of all columns stands between the place and its input
  int root_ = -1;
};

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_GRAPH_EDITOR_H_
