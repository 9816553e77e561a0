// `PlanNode` is an operator of the graph, made for a run; its inputs make it a tree, so a node of the graph that is
// used twice is made twice. It holds what is known before threads start: number of rows, size of checkpoints,
// fingerprints, where rows are sharded.
// Threads: built and taken apart by one thread.
#ifndef HEADRACE_ENGINE_PLAN_PLAN_NODE_H_
#define HEADRACE_ENGINE_PLAN_PLAN_NODE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/operator.h"
#include "ir/messages.h"

namespace headrace {

struct PlanNode {
  OpArguments arguments;
  std::vector<std::unique_ptr<PlanNode>> inputs;
  // Exactly one is set. A subtree of ops that act on indices alone is one indexed source.
  std::unique_ptr<IndexedSource> indexed;
  std::unique_ptr<StreamSource> stream_source;
  std::unique_ptr<RowOperator> row;
  std::unique_ptr<StreamOperator> stream;

  std::shared_ptr<const RowWarnings> warnings;  // of a source; null: it does not warn
  OperatorProperties properties;
  int counters = 0;  // in a checkpoint, the inputs' and its own; more where operators list rows
  // Every row comes from one row of the sharded source, in order, so that counts above determine counts below (batches
  // are allowed: the number of a batch determines its position).
  bool position_exact = false;
  bool batched = false;         // this node, or one below it, forms batches
  bool made_elsewhere = false;  // others make the rows of `indexed` (rows_elsewhere.h)
};

// `graph` is canonical and valid. Errors: what sources find (a missing folder) and what factories refuse.
absl::StatusOr<std::unique_ptr<PlanNode>> MakePlanNodes(const ir::proto::Graph& graph, const RunOptions& run);

// A checkpoint of a node. Of the start of an epoch it is zeros, and may have more of them than the node has counters.
struct NodeCounters {
  absl::Span<const uint64_t> below;                // of all inputs
  std::vector<absl::Span<const uint64_t>> inputs;  // of each
  absl::Span<const uint64_t> own;
};
// `counters` fits the node.
NodeCounters CutCounters(const PlanNode& node, absl::Span<const uint64_t> counters);
// Whether the counters, which are untrusted, can be cut, down to the sources.
bool FitsCounters(const PlanNode& node, absl::Span<const uint64_t> counters);

std::vector<Fingerprint> FingerprintsOf(const PlanNode& root);
// The warnings of all sources below it.
void CollectWarnings(const PlanNode& root, std::vector<std::shared_ptr<const RowWarnings>>& warnings);

// Identifies the operators that have counters in a checkpoint, in order: a state fits only the same layout.
uint32_t CheckpointLayout(const PlanNode& root);
// Whether rows are one to one with those of an indexed source, by row operators alone, so that the key of a row
// identifies the source's row.
bool IsKeyed(const PlanNode& node);

// The indexed source from which each row comes, unchanged or with steps applied; rows may be dropped, repeated or
// shuffled on the way. Null: there is no such source.
const PlanNode* SourceOfRows(const PlanNode& node);

// The operator nearest to the sources after which the rows of a rank are not one to one with what was sharded; null:
// none.
const PlanNode* FirstInexact(const PlanNode& root);

// Numbers operators in the order of a canonical graph, for messages and plans, whatever passes do to it. An operator
// that is made of an attribute has the number of the one with the attribute.
void NumberOperators(ir::proto::Graph& graph);
// "batch[3]": the operator with that number, or the one that it would get; of an operator that is made of an attribute,
// the one with the attribute.
std::string NodeName(const ir::proto::Graph& graph, int node);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_PLAN_NODE_H_
