#include "ir/post_order.h"

#include <algorithm>
#include <utility>

#include "ir/graph.pb.h"

namespace headrace::ir {

std::vector<int> PostOrder(const proto::Graph& graph) {
  std::vector<int> order;
  if (graph.nodes().empty()) return order;
  std::vector<bool> seen(graph.nodes_size());
  // An explicit stack, because a chain may be too long for recursion: (node, inputs visited).
  std::vector<std::pair<int, int>> open = {{graph.nodes_size() - 1, 0}};
  seen.back() = true;
  while (!open.empty()) {
    auto& [position, visited] = open.back();
    const proto::Node& node = graph.nodes(position);
    if (visited == node.inputs_size()) {
      order.push_back(position);
      open.pop_back();
      continue;
    }
    const uint32_t input = node.inputs(visited++);
    if (input >= static_cast<uint32_t>(position) || seen[input]) continue;
    seen[input] = true;
    open.emplace_back(static_cast<int>(input), 0);
  }
  return order;
}

int DepthOf(const proto::Graph& graph) {
  std::vector<int> depths(static_cast<size_t>(graph.nodes_size()), 1);
  for (int i = 0; i < graph.nodes_size(); ++i) {
    int& depth = depths[static_cast<size_t>(i)];
    for (const uint32_t input : graph.nodes(i).inputs()) {
      if (input < static_cast<uint32_t>(i)) depth = std::max(depth, depths[input] + 1);
    }
  }
  return depths.empty() ? 0 : depths.back();
}

}  // namespace headrace::ir
