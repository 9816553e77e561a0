#include "engine/plan/batch_numbers.h"

#include "ir/graph.pb.h"

namespace headrace {

const PlanNode& NumberedSource(const PlanNode& root) {
  const PlanNode* node = &root;
  while (node->indexed == nullptr && !node->inputs.empty()) node = node->inputs[0].get();
  return *node;
}

uint64_t BatchSizeOf(const PlanNode& root) {
  const PlanNode* node = &root;
  while (node->properties.batch_rows == 0) {
    if (node->inputs.empty()) return 1;
    node = node->inputs[0].get();
  }
  return static_cast<uint64_t>(node->properties.batch_rows);
}

std::vector<int> BatchNumberCounters(const PlanNode& root) {
  std::vector<int> counters;
  if (!root.batched) return counters;
  const PlanNode* batch = &root;
  while (!batch->properties.traits.joins_rows) batch = batch->inputs[0].get();
  for (int i = batch->counters - batch->properties.checkpoint_counters; i < batch->counters - 1; ++i) {
    counters.push_back(i);
  }
  return counters;
}

// Rows are sharded above the operators on indices, and at other sources.
Cardinality RowsOfRank(const PlanNode& node, const ShardAssignment& shard) {
  const Cardinality& all = node.properties.cardinality;
  if (node.indexed || node.inputs.empty()) {
    return all.known() ? Cardinality::Of(shard.RowsOf(all.rows, 0, node.properties.run_length)) : all;
  }
  if (node.properties.rows_differ && !all.known()) return all;
  std::vector<Cardinality> rows;
  for (const auto& input : node.inputs) rows.push_back(RowsOfRank(*input, shard));
  const OpFactories& factories = *FindOp(node.arguments.node->op());
  return factories.cardinality ? factories.cardinality(node.arguments, rows) : rows[0];
}

}  // namespace headrace
