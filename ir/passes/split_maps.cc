#include "ir/passes/split_maps.h"

#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/passes/side_effects.h"

namespace headrace::ir {
namespace {

// Whether both run on threads of one kind.
bool GoTogether(const proto::Step& a, const proto::Step& b) {
  return CallsPython(a) == CallsPython(b) && ReadsFiles(a) == ReadsFiles(b);
}

// The node, or one for each run of steps that call Python, read files, or do neither; each is the input of the next.
std::vector<proto::Node> PartsOf(const proto::Node& node) {
  if (node.op() != kMapOp) return {node};
  std::vector<proto::Node> parts;
  for (const proto::Step& step : node.steps()) {
    if (parts.empty() || !GoTogether(step, *parts.back().steps().rbegin())) {
      parts.push_back(node);
      parts.back().clear_steps();
    }
    *parts.back().add_steps() = step;
  }
  return parts.empty() ? std::vector<proto::Node>{node} : parts;
}

}  // namespace

absl::StatusOr<proto::Graph> SplitMaps(const proto::Graph& graph) {
  proto::Graph result = graph;
  result.clear_nodes();
  std::vector<uint32_t> new_id;
  for (const proto::Node& node : graph.nodes()) {
    const int first = result.nodes_size();
    for (proto::Node& part : PartsOf(node)) *result.add_nodes() = std::move(part);
    for (uint32_t& input : *result.mutable_nodes(first)->mutable_inputs()) input = new_id[input];
    const int last = result.nodes_size() - 1;
    for (int at = first + 1; at <= last; ++at) {
      proto::Node& part = *result.mutable_nodes(at);
      part.clear_inputs();
      part.add_inputs(static_cast<uint32_t>(at - 1));
    }
    new_id.push_back(static_cast<uint32_t>(last));
  }
  return result;
}

}  // namespace headrace::ir
