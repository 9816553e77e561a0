// `WritesOf` lists what a run of a graph may write, as its operators declare (ir/declaration.h). Use it before an
// untrusted graph is run.
// Threads: a pure function.
#ifndef HEADRACE_ENGINE_PLAN_GRAPH_WRITES_H_
#define HEADRACE_ENGINE_PLAN_GRAPH_WRITES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace {

struct GraphWrite {
  std::string op;    // "cache[2]"
  std::string what;  // "rows in the folder kept/"
};

// Empty: it writes nothing. Errors: those of the graph.
absl::StatusOr<std::vector<GraphWrite>> WritesOf(const ir::proto::Graph& user_graph);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_GRAPH_WRITES_H_
