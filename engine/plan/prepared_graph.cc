#include "engine/plan/prepared_graph.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/fork_watch.h"
#include "engine/plan/parameter_uses.h"
#include "engine/plan/rows_elsewhere.h"
#include "ir/graph.pb.h"

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

// Those of FingerprintsOf, but of sources made anew and alone: without the operators above them, which might read
// values of rows or call the user's code.
absl::Status AddFingerprintsNow(const ir::proto::Graph& graph, int id, const RunOptions& run,
                                std::vector<Fingerprint>& fingerprints) {
  const ir::proto::Node& node = graph.nodes(id);
  for (const uint32_t input : node.inputs()) {
    HEADRACE_RETURN_IF_ERROR(AddFingerprintsNow(graph, static_cast<int>(input), run, fingerprints));
  }
  if (!node.inputs().empty()) return absl::OkStatus();
  ir::proto::Graph alone = graph;
  alone.clear_nodes();
  *alone.add_nodes() = node;
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<PlanNode> source, MakePlanNodes(alone, run));
  for (Fingerprint& each : FingerprintsOf(*source)) fingerprints.push_back(std::move(each));
  return absl::OkStatus();
}

}  // namespace

PreparedGraph::PreparedGraph(ir::proto::Graph graph, const PlanOptions& options)
    : graph_(std::move(graph)), bindings_(options.bindings), ranges_(options.ranges) {
  run_.seed = options.seed;
  run_.bindings = &bindings_;
  run_.files = options.files;
  run_.writes = options.writes;
  run_.rank = options.shard.rank;
  run_.skip_failed = graph_.has_skip_failed();
  run_.world = options.shard.world;
  run_.memory = options.memory;
  run_.first_epoch = options.epochs.first;
  run_.ranges = options.ranges.get();
}

absl::StatusOr<std::unique_ptr<PreparedGraph>> PreparedGraph::Make(ir::proto::Graph graph, const PlanOptions& options) {
  if (LostInFork()) {
    return UnsupportedError(
        "this process was forked after Headrace had started its threads, which a fork does not copy: start workers "
        "with the 'spawn' method, or fork before the first iteration");
  }
  std::unique_ptr<PreparedGraph> prepared(new PreparedGraph(std::move(graph), options));
  HEADRACE_ASSIGN_OR_RETURN(prepared->root_, MakePlanNodes(prepared->graph_, prepared->run_));
  if (options.rows_elsewhere != nullptr) {
    HEADRACE_RETURN_IF_ERROR(TakeRowsElsewhere(options.rows_elsewhere, prepared->root_));
  }
  TellReaders(*prepared->root_);
  Collect(*prepared->root_, prepared->nodes_);
  prepared->fingerprints_ = FingerprintsOf(*prepared->root_);
  return prepared;
}

bool PreparedGraph::DataChanged() const {
  std::vector<Fingerprint> now;
  const absl::Status found = AddFingerprintsNow(graph_, graph_.nodes_size() - 1, run_, now);
  return !found.ok() || now != fingerprints_;
}

}  // namespace headrace
