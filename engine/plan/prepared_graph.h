// `PreparedGraph` is a graph with its operators made: sources have looked at their files, nothing runs. A plan lays out
// its operators, which are then moved to the stages.
// Threads: built and used by one thread; DataChanged from any.
#ifndef HEADRACE_ENGINE_PLAN_PREPARED_GRAPH_H_
#define HEADRACE_ENGINE_PLAN_PREPARED_GRAPH_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/plan/plan_node.h"
#include "engine/plan/plan_options.h"
#include "ir/graph.pb.h"

namespace headrace {

class PreparedGraph {
 public:
  // `graph` is canonical and valid. Errors as MakePlanNodes, and kUnsupported in a child that was forked after threads
  // had started.
  static absl::StatusOr<std::unique_ptr<PreparedGraph>> Make(ir::proto::Graph graph, const PlanOptions& options);
  PreparedGraph(const PreparedGraph&) = delete;

  const ir::proto::Graph& graph() const { return graph_; }
  const PlanNode& root() const { return *root_; }
  // Indexed by their numbers in a plan.
  const std::vector<PlanNode*>& nodes() const { return nodes_; }
  // The fingerprints of the sources when the graph was prepared.
  const std::vector<Fingerprint>& fingerprints() const { return fingerprints_; }
  // Whether the sources differ now or cannot be found any more.
  bool DataChanged() const;

 private:
  PreparedGraph(ir::proto::Graph graph, const PlanOptions& options);

  const ir::proto::Graph graph_;
  const HostBindings bindings_;
  const std::shared_ptr<const BatchRanges> ranges_;  // run_ points to them
  RunOptions run_;
  std::unique_ptr<PlanNode> root_;
  std::vector<PlanNode*> nodes_;
  std::vector<Fingerprint> fingerprints_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_PREPARED_GRAPH_H_
