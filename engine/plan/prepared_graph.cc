#include "engine/plan/prepared_graph.h"

#include <utility>

#include "core/error.h"
#include "core/fork_watch.h"

namespace headrace {
namespace {

// Inputs before what they feed.
void Collect(PlanNode& node, std::vector<PlanNode*>& nodes) {
  // Operators on indices have become one source.
  if (!node.indexed) {
    for (const auto& input : node.inputs) Collect(*input, nodes);
  }
  nodes.push_back(&node);
}

}  // namespace

PreparedGraph::PreparedGraph(ir::proto::Graph graph, const PlanOptions& options)
    : graph_(std::move(graph)), bindings_(options.bindings) {
  run_.seed = options.seed;
  run_.bindings = &bindings_;
  run_.files = options.files;
  run_.rank = options.shard.rank;
  run_.skips_failed = graph_.has_skip_failed();
  run_.world = options.shard.world;
  run_.memory = options.memory;
  run_.first_epoch = options.epochs.first;
}

absl::StatusOr<std::unique_ptr<PreparedGraph>> PreparedGraph::Make(ir::proto::Graph graph, const PlanOptions& options) {
  if (LostInFork()) {
    return UnsupportedError(
        "this process was forked after Headrace had started its threads, which a fork does not copy: start workers "
        "with the 'spawn' method, or fork before the first iteration");
  }
  std::unique_ptr<PreparedGraph> prepared(new PreparedGraph(std::move(graph), options));
  HEADRACE_ASSIGN_OR_RETURN(prepared->root_, MakePlanNodes(prepared->graph_, prepared->run_));
  Collect(*prepared->root_, prepared->nodes_);
  prepared->fingerprints_ = FingerprintsOf(*prepared->root_);
  return prepared;
}

bool PreparedGraph::DataChanged() const {
  const absl::StatusOr<std::unique_ptr<PlanNode>> now = MakePlanNodes(graph_, run_);
  return !now.ok() || FingerprintsOf(**now) != fingerprints_;
}

}  // namespace headrace
