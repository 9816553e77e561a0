#include "engine/cache/cache_content.h"

#include <algorithm>

#include "core/text.h"
#include "core/version.h"
#include "ir/declaration.h"
#include "ir/graph_hash.h"

namespace headrace {
namespace {

int IndexOf(const ir::proto::Graph& graph, const ir::proto::Node* node) {
  int point = 0;
  while (&graph.nodes(point) != node) ++point;
  return point;
}

void AppendSources(const PlanNode& instance, std::string& content) {
  for (const Fingerprint& source : FingerprintsOf(instance)) {
    Append(content, " source ", source.source, " ", source.count, " ", source.hash);
  }
}

// Of an indexed source: whether its order is another in each epoch. One that may shuffle has a salt though it does not.
bool ShufflesAnew(const PlanNode& source) {
  const ir::proto::Node& node = *source.arguments.node;
  const bool off = std::any_of(node.attributes().begin(), node.attributes().end(), [](const auto& attribute) {
    return attribute.name() == "shuffle" && !attribute.value().boolean();
  });
  return (node.salt() != 0 && !off) || std::any_of(source.inputs.begin(), source.inputs.end(),
                                                   [](const auto& input) { return ShufflesAnew(*input); });
}

}  // namespace

bool Draws(const PlanNode& instance, bool by_key) {
  const auto& steps = instance.arguments.node->steps();
  if (!by_key && instance.arguments.node->salt() != 0) return true;
  return std::any_of(steps.begin(), steps.end(), [](const auto& step) { return step.salt() != 0; }) ||
         std::any_of(instance.inputs.begin(), instance.inputs.end(),
                     [by_key](const auto& input) { return Draws(*input, by_key); });
}

bool CallsPython(const PlanNode& instance) {
  return instance.properties.traits.python || std::any_of(instance.inputs.begin(), instance.inputs.end(),
                                                          [](const auto& input) { return CallsPython(*input); });
}

bool MayBeHeavy(const PlanNode& instance) {
  if (instance.properties.traits.file_io) return true;
  const auto& steps = instance.arguments.node->steps();
  return std::any_of(steps.begin(), steps.end(),
                     [](const auto& step) {
                       const ir::Traits& traits = ir::Registry::Global().Find(step.kernel())->traits;
                       return traits.decodes || traits.geometric;
                     }) ||
         std::any_of(instance.inputs.begin(), instance.inputs.end(),
                     [](const auto& input) { return MayBeHeavy(*input); });
}

bool ShufflesBelow(const PlanNode& instance) {
  if (instance.indexed) return false;
  return (instance.properties.traits.by_position && instance.properties.traits.one_to_one) ||
         ShufflesBelow(*instance.inputs[0]);
}

uint64_t RowsThatCome(const PlanNode& instance, const ShardAssignment& shard) {
  const PlanNode& source = *SourceOfRows(instance);
  const uint64_t size = source.indexed->size();
  // A rank meets its own part of the rows alone, but where each epoch shuffles them anew.
  if (ShufflesAnew(source)) return size;
  const uint64_t mine = shard.RowsOf(size, 0);
  const Cardinality& each = instance.inputs[0]->properties.cardinality;
  return std::max<uint64_t>(1, each.known() ? std::min(mine, each.rows) : mine);
}

bool MeetsRowsOnce(const PlanNode& instance, EpochRange epochs, const ShardAssignment& shard) {
  if (epochs.first < epochs.last) return false;
  const Cardinality& each = instance.inputs[0]->properties.cardinality;
  if (each.known() && each.rows <= shard.RowsOf(SourceOfRows(instance)->indexed->size(), 0)) return true;
  for (const PlanNode* at = &instance; !at->indexed; at = at->inputs[0].get()) {
    epochs.first = at->properties.epochs.FirstInput(epochs.first);
    epochs.last = at->properties.epochs.LastInput(epochs.last);
  }
  return epochs.first >= epochs.last;
}

std::string ContentOf(const PlanNode& cache, const ir::proto::Graph& graph, uint64_t seed,
                      const ShardAssignment& shard) {
  const PlanNode& input = *cache.inputs[0];
  std::string content = Cat("headrace ", kVersion, " graph ",
                            ir::HashText(ir::SubgraphHash(graph, IndexOf(graph, input.arguments.node))));
  if (Draws(input, cache.row != nullptr)) Append(content, " seed ", seed);
  AppendSources(input, content);
  if (cache.row) return content;
  // Rows by number are those of one rank.
  Append(content, " rank ", shard.rank, " of ", shard.world, " even ", static_cast<int>(shard.even));
  return content;
}

std::string ContentOfCachePoints(const PlanNode& map, const AutomaticCache& cache, const ir::proto::Graph& graph) {
  const int point = IndexOf(graph, map.arguments.node);
  ir::proto::Graph common = graph;
  ir::proto::Node& node = *common.mutable_nodes(point);
  const int steps = static_cast<int>(cache.points().size()) - 1;
  node.mutable_steps()->DeleteSubrange(steps, node.steps_size() - steps);
  std::string content = Cat("headrace ", kVersion, " points of ", ir::HashText(ir::SubgraphHash(common, point)));
  for (const AutomaticCache::Point& each : cache.points()) Append(content, " columns ", each.columns);
  AppendSources(*map.inputs[0], content);
  return content;
}

}  // namespace headrace
