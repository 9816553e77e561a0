#include "ir/passes/merge_maps.h"

#include <algorithm>
#include <vector>

#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/passes/side_effects.h"

namespace headrace::ir {
namespace {

bool SameAttributes(const proto::Node& a, const proto::Node& b) {
  return std::equal(a.attributes().begin(), a.attributes().end(), b.attributes().begin(), b.attributes().end(),
                    [](const proto::Attribute& x, const proto::Attribute& y) {
                      return x.SerializeAsString() == y.SerializeAsString();
                    });
}

bool CanMerge(const proto::Node& below, const proto::Node& above) {
  if (below.op() != kMapOp || above.op() != kMapOp) return false;
  if (CallsPython(below) != CallsPython(above) || CallsInOrder(below) || CallsInOrder(above)) return false;
  if (ReadsFiles(below) != ReadsFiles(above)) return false;
  return below.version() == above.version() && below.salt() == 0 && above.salt() == 0 && SameAttributes(below, above);
}

// Errors still name the line of the step's original map.
void NoteLocations(proto::Node& map) {
  for (proto::Step& step : *map.mutable_steps()) {
    if (!step.has_location() && map.has_location()) *step.mutable_location() = map.location();
  }
}

}  // namespace

absl::StatusOr<proto::Graph> MergeMaps(const proto::Graph& graph) {
  std::vector<int> uses(graph.nodes_size());
  for (const proto::Node& node : graph.nodes()) {
    for (const uint32_t input : node.inputs()) ++uses[input];
  }
  proto::Graph result = graph;
  result.clear_nodes();
  std::vector<uint32_t> new_id(graph.nodes_size());
  for (int i = 0; i < graph.nodes_size(); ++i) {
    proto::Node node = graph.nodes(i);
    for (uint32_t& input : *node.mutable_inputs()) input = new_id[input];
    // The node below may be a merged one: look it up in the result.
    const bool only_use = node.inputs_size() == 1 && uses[graph.nodes(i).inputs(0)] == 1;
    proto::Node* below = only_use ? result.mutable_nodes(node.inputs(0)) : nullptr;
    if (below != nullptr && CanMerge(*below, node)) {
      NoteLocations(*below);
      NoteLocations(node);
      below->mutable_steps()->MergeFrom(node.steps());
      *below->mutable_location() = node.location();
      new_id[i] = node.inputs(0);
      continue;
    }
    *result.add_nodes() = std::move(node);
    new_id[i] = static_cast<uint32_t>(result.nodes_size() - 1);
  }
  return result;
}

}  // namespace headrace::ir
