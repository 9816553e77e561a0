#include "ir/passes/group_rows.h"

#include <vector>

#include "ir/declaration.h"
#include "ir/graph.pb.h"
#include "ir/passes/side_effects.h"

namespace headrace::ir {
namespace {

bool GoesByRow(const proto::Node& node) {
  const Declaration* declaration = Registry::Global().Find(node.op());
  if (declaration == nullptr) return true;
  const Traits& traits = declaration->traits;
  if (traits.one_to_many || traits.single_row_messages) return true;
  // A source that refers to the user's arrays makes no call.
  if (node.inputs().empty()) return traits.python;
  // What joins rows makes one call for many of them.
  return CallsPython(node) && !traits.joins_rows;
}

}  // namespace

absl::StatusOr<proto::Graph> GroupRows(const proto::Graph& graph) {
  proto::Graph result = graph;
  // Goes from the result down: the operators above a node are known when it is reached.
  std::vector<bool> by_row(graph.nodes_size());
  for (int i = graph.nodes_size() - 1; i >= 0; --i) {
    proto::Node& node = *result.mutable_nodes(i);
    by_row[i] = by_row[i] || GoesByRow(node);
    for (const uint32_t input : node.inputs()) by_row[input] = by_row[input] || by_row[i];
    if (node.inputs().empty() && !by_row[i]) node.set_grouped(true);
  }
  return result;
}

}  // namespace headrace::ir
