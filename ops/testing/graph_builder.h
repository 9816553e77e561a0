// `GraphBuilder` builds graphs in tests of operators: GraphBuilder().Add("Range", {}, {{"stop", IntValue(3)}}) and so
// on; the last node added is the result.
// Threads: used by one thread.
#ifndef HEADRACE_OPS_TESTING_GRAPH_BUILDER_H_
#define HEADRACE_OPS_TESTING_GRAPH_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/branches.h"
#include "ir/graph.pb.h"
#include "ir/value.h"

namespace headrace {

class GraphBuilder {
 public:
  using Given = std::vector<std::pair<std::string, ir::proto::Value>>;

  // Returns the node's id; its line in "test.py" is that id plus one.
  uint32_t Add(std::string_view op, std::vector<uint32_t> inputs = {}, const Given& attributes = {});
  // Adds a step to the last node.
  GraphBuilder& Step(std::string_view kernel, std::vector<std::string> inputs, std::vector<std::string> outputs,
                     const Given& attributes = {});
  // Begins a branch of the last step, which further steps are added to until End.
  GraphBuilder& Branch();
  GraphBuilder& End();

  // Rows that fail are left out, at most so many an epoch.
  GraphBuilder& SkipFailed(uint64_t max_errors) {
    graph_.mutable_skip_failed()->set_max_errors(max_errors);
    return *this;
  }

  // The canonical, validated graph.
  absl::StatusOr<ir::proto::Graph> Build() const;
  // The graph as built, without defaults.
  const ir::proto::Graph& raw() const { return graph_; }

 private:
  ir::Steps& LastSteps();

  ir::proto::Graph graph_;
  std::vector<ir::proto::Branch*> open_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_GRAPH_BUILDER_H_
