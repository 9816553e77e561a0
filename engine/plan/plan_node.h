// A graph's nodes made into operators, as a tree: a node used twice is made twice. What can be answered before
// threads start is answered here: number of rows, widths of checkpoint, fingerprints, where rows are sharded.
// Thread contract: built and taken apart by one thread.
#ifndef HEADRACE_ENGINE_PLAN_PLAN_NODE_H_
#define HEADRACE_ENGINE_PLAN_PLAN_NODE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/operator/operator.h"
#include "ir/graph.pb.h"

namespace headrace {

struct PlanNode {
  OpArguments arguments;
  std::vector<std::unique_ptr<PlanNode>> inputs;
  // Exactly one is set. A subtree of ops that act on indices alone is one indexed source.
  std::unique_ptr<IndexedSource> indexed;
  std::unique_ptr<StreamSource> stream_source;
  std::unique_ptr<RowOperator> row;
  std::unique_ptr<StreamOperator> stream;

  OperatorProperties properties;
  int counters = 0;  // in a checkpoint, the inputs' and its own
  // Every row comes from one row of the sharded source, in order, so that counts below follow from counts above
  // (batch is allowed: its number fixes the position).
  bool position_exact = false;
  bool batched = false;  // a batch stands here or below
};

// `graph` is canonical and valid. Errors: what sources find (a missing folder) and what factories refuse.
absl::StatusOr<std::unique_ptr<PlanNode>> MakePlanNodes(const ir::proto::Graph& graph, const RunOptions& run);

std::vector<Fingerprint> FingerprintsOf(const PlanNode& root);

// Names the operators that have counters in a checkpoint, in their order: states fit only where it is the same.
uint32_t CheckpointLayout(const PlanNode& root);
// One to one with an indexed source, by row operators alone: a row's key says where it comes from.
bool IsKeyed(const PlanNode& node);

// The indexed source that each row is one of, as it was or with steps applied: some may be dropped, repeated or
// shuffled on the way. Null: rows come about otherwise.
const PlanNode* SourceOfRows(const PlanNode& node);

// The first op on the way down that makes the rows of a rank other than one to one with what was sharded; null: none.
const PlanNode* FirstInexact(const PlanNode& root);

// "batch[3]": the op with its place in the graph that the user built, or in this one where that is not known.
std::string NodeName(const ir::proto::Graph& graph, int node);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_PLAN_NODE_H_
