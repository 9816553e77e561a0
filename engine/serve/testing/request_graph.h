// `RequestGraph` builds inference graphs in tests: RequestGraph({{"image", bytes}}).Map().Step("Decode", {"image"}) and
// so on.
// Threads: used by one thread.
#ifndef HEADRACE_ENGINE_SERVE_TESTING_REQUEST_GRAPH_H_
#define HEADRACE_ENGINE_SERVE_TESTING_REQUEST_GRAPH_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.pb.h"
#include "ir/type.h"

namespace headrace {

class RequestGraph {
 public:
  using Given = std::vector<std::pair<std::string, ir::proto::Value>>;

  explicit RequestGraph(const ir::Schema& inputs);
  // Adds an operator over the last one; its line in "serve.py" is its number, from 1.
  RequestGraph& Add(std::string_view op, const Given& attributes = {});
  // An empty map, for steps.
  RequestGraph& Map();
  // Adds a step to the last map; its columns are replaced.
  RequestGraph& Step(std::string_view kernel, std::vector<std::string> columns, const Given& attributes = {});
  RequestGraph& Step(std::string_view kernel, std::vector<std::string> inputs, std::vector<std::string> outputs,
                     const Given& attributes);

  const ir::proto::Graph& graph() const { return graph_; }
  ir::proto::Graph& graph() { return graph_; }

 private:
  ir::proto::Graph graph_;
};

// A step for a chain, with the defaults of its declaration; `columns`: its inputs and outputs.
ir::proto::Step StepOf(std::string_view kernel, const RequestGraph::Given& attributes = {},
                       const std::vector<std::string>& columns = {});

}  // namespace headrace

#endif  // HEADRACE_ENGINE_SERVE_TESTING_REQUEST_GRAPH_H_
