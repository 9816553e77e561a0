#include "engine/plan/graph_writes.h"

#include <utility>

#include "core/error.h"
#include "engine/plan/plan_node.h"
#include "ir/attributes.h"
#include "ir/canonical.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"
#include "ir/validate.h"

namespace headrace {

absl::StatusOr<std::vector<GraphWrite>> WritesOf(const ir::proto::Graph& user_graph) {
  ir::proto::Graph graph = user_graph;
  HEADRACE_RETURN_IF_ERROR(ir::Canonicalize(graph));
  HEADRACE_RETURN_IF_ERROR(ir::Validate(graph));
  std::vector<GraphWrite> writes;
  for (int i = 0; i < graph.nodes_size(); ++i) {
    const ir::Declaration* const declaration = ir::Registry::Global().Find(graph.nodes(i).op());
    if (declaration == nullptr || !declaration->writes) continue;
    for (std::string& what : declaration->writes(ir::Attributes::Of(graph.nodes(i)))) {
      writes.push_back({NodeName(graph, i), std::move(what)});
    }
  }
  return writes;
}

}  // namespace headrace
