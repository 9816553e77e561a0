#include "engine/plan/cache_content.h"

#include <algorithm>

#include "core/text.h"
#include "core/version.h"
#include "engine/plan/parameter_uses.h"
#include "ir/branches.h"
#include "ir/graph.pb.h"
#include "ir/graph_hash.h"
#include "ir/node_traits.h"

namespace headrace {
namespace {

int IndexOf(const ir::proto::Graph& graph, const ir::proto::Node* node) {
  int id = 0;
  while (&graph.nodes(id) != node) ++id;
  return id;
}

void AppendSources(const PlanNode& node, std::string& content) {
  for (const Fingerprint& source : FingerprintsOf(node)) {
    Append(content, " source ", source.source, " ", source.count, " ", source.hash);
  }
}

}  // namespace

bool Draws(const PlanNode& node, bool by_key) {
  const auto& steps = node.arguments.node->steps();
  if (!by_key && node.arguments.node->salt() != 0) return true;
  const auto has_salt = [](const ir::proto::Step& step) { return step.salt() != 0; };
  return std::any_of(steps.begin(), steps.end(), [&](const auto& step) { return ir::AnyStepOf(step, has_salt); }) ||
         std::any_of(node.inputs.begin(), node.inputs.end(),
                     [by_key](const auto& input) { return Draws(*input, by_key); });
}

bool CallsPython(const PlanNode& node) {
  return node.properties.traits.python ||
         std::any_of(node.inputs.begin(), node.inputs.end(), [](const auto& input) { return CallsPython(*input); });
}

bool ReadsFilesOfRows(const PlanNode& node) {
  return (node.row && node.properties.traits.file_io) ||
         std::any_of(node.inputs.begin(), node.inputs.end(),
                     [](const auto& input) { return ReadsFilesOfRows(*input); });
}

bool MayBeHeavy(const PlanNode& node) {
  if (node.properties.traits.file_io) return true;
  const auto& steps = node.arguments.node->steps();
  const auto works_on_images = [](const ir::proto::Step& step) {
    const ir::Traits traits = ir::TraitsOf(step);
    return traits.decodes || traits.geometric;
  };
  return std::any_of(steps.begin(), steps.end(),
                     [&](const auto& step) { return ir::AnyStepOf(step, works_on_images); }) ||
         std::any_of(node.inputs.begin(), node.inputs.end(), [](const auto& input) { return MayBeHeavy(*input); });
}

bool ShufflesBelow(const PlanNode& node) {
  if (node.indexed) return false;
  return (node.properties.traits.by_position && node.properties.traits.one_to_one) || ShufflesBelow(*node.inputs[0]);
}

uint64_t RowsOfRank(const IndexedSource& source, const ShardAssignment& shard) {
  const IndexedProperties properties = source.properties();
  const uint64_t positions = shard.RowsOf(source.size(), 0, properties.run_length);
  if (!properties.uneven_runs) return positions;
  uint64_t rows = 0;
  for (uint64_t local = 0; local < positions; local += properties.run_length) {
    rows += source.RunRows(shard.PositionOf(local, 0, properties.run_length) % source.size());
  }
  return rows;
}

uint64_t RowsThatCome(const PlanNode& node, const ShardAssignment& shard) {
  const PlanNode& source = *SourceOfRows(node);
  // A rank meets only its own part of the rows, unless each epoch shuffles them anew.
  if (source.properties.new_order_each_epoch) return RowsOfRank(*source.indexed, {});
  const uint64_t mine = RowsOfRank(*source.indexed, shard);
  const Cardinality& each = node.inputs[0]->properties.cardinality;
  return std::max<uint64_t>(1, each.known() ? std::min(mine, each.rows) : mine);
}

bool MeetsRowsOnce(const PlanNode& node, EpochRange epochs, const ShardAssignment& shard) {
  if (epochs.first < epochs.last) return false;
  const Cardinality& each = node.inputs[0]->properties.cardinality;
  const PlanNode& source = *SourceOfRows(node);
  if (each.known() && each.rows <= shard.RowsOf(source.indexed->size(), 0, source.properties.run_length)) return true;
  for (const PlanNode* at = &node; !at->indexed; at = at->inputs[0].get()) {
    epochs.first = at->properties.epochs.FirstInput(epochs.first);
    epochs.last = at->properties.epochs.LastInput(epochs.last);
  }
  return epochs.first >= epochs.last;
}

std::string ContentOf(const PlanNode& cache, const ir::proto::Graph& graph, uint64_t seed,
                      const ShardAssignment& shard) {
  const PlanNode& input = *cache.inputs[0];
  const int id = IndexOf(graph, input.arguments.node);
  ir::proto::Graph rows = graph;
  // Rows that failed are kept in order, however many may fail, and not by key.
  if (cache.row) rows.clear_skip_failed();
  if (rows.has_skip_failed()) rows.mutable_skip_failed()->clear_max_errors();
  std::string content = Cat("headrace ", kVersion, " graph ", ir::HashText(ir::SubgraphHash(rows, id)));
  if (Draws(input, cache.row != nullptr)) Append(content, " seed ", seed);
  AppendSources(input, content);
  // The plan was refused where they cannot be told.
  content += ValuesInFirstEpoch(input).value_or("");
  const std::string& version = cache.properties.keeps->version;
  if (!version.empty()) Append(content, " version ", version.size(), " ", version);
  if (cache.row) return content;
  // Rows kept by number are those of one rank.
  Append(content, " rank ", shard.rank, " of ", shard.world, " even ", static_cast<int>(shard.even));
  return content;
}

std::string ContentOfCachePoints(const PlanNode& node, const ir::proto::Graph& graph) {
  const int id = IndexOf(graph, node.arguments.node);
  const std::vector<CachePoint>& points = node.properties.cache_points;
  // Leaves out the steps after the last point, which do not change what is kept.
  ir::proto::Graph common = graph;
  common.clear_skip_failed();
  ir::proto::Node& until_last = *common.mutable_nodes(id);
  const int steps = static_cast<int>(points.size()) - 1;
  until_last.mutable_steps()->DeleteSubrange(steps, until_last.steps_size() - steps);
  std::string content = Cat("headrace ", kVersion, " points of ", ir::HashText(ir::SubgraphHash(common, id)));
  for (const CachePoint& point : points) Append(content, " columns ", point.columns);
  AppendSources(*node.inputs[0], content);
  return content;
}

}  // namespace headrace
