#include "ir/graph_hash.h"

#include <algorithm>
#include <string_view>

#include "core/row_id.h"
#include "core/text.h"
#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/post_order.h"

namespace headrace::ir {
namespace {

template <typename Attributes>
void DropTuning(const Declaration& declaration, Attributes* attributes) {
  const auto tunes = [&](const proto::Attribute& attribute) {
    const Attribute* declared = declaration.FindAttribute(attribute.name());
    return declared != nullptr && declared->tuning;
  };
  attributes->erase(std::remove_if(attributes->begin(), attributes->end(), tunes), attributes->end());
}

void ReplaceChoice(const Declaration& declaration, proto::Attribute& attribute) {
  const Attribute* declared = declaration.FindAttribute(attribute.name());
  if (declared == nullptr) return;
  for (const auto& [choice, other] : declared->hashed_as) {
    if (attribute.value().text() != choice) continue;
    attribute.mutable_value()->set_text(other);
    return;
  }
}

// Leaves what the results depend on.
template <typename Attributes>
void MakeBare(const std::string& name, Attributes* attributes) {
  const Declaration* declaration = Registry::Global().Find(name);
  if (declaration == nullptr) return;
  DropTuning(*declaration, attributes);
  for (proto::Attribute& attribute : *attributes) ReplaceChoice(*declaration, attribute);
}

void MakeStepBare(proto::Step& step) {
  step.clear_location();
  step.clear_user_node();
  step.clear_fused();
  MakeBare(step.kernel(), step.mutable_attributes());
}

// Hashes eight bytes at a time, little-endian, the last padded with zeros; the length goes first.
GraphHash GraphHashOfBytes(std::string_view bytes) {
  GraphHash hash{MixKey(0x68656164, bytes.size()), MixKey(0x72616365, bytes.size())};
  for (size_t start = 0; start < bytes.size(); start += 8) {
    uint64_t word = 0;
    const std::string_view part = bytes.substr(start, 8);
    for (size_t i = 0; i < part.size(); ++i) word |= uint64_t{static_cast<uint8_t>(part[i])} << (8 * i);
    hash.high = MixKey(hash.high, word);
    hash.low = MixKey(hash.low, ~word);
  }
  return hash;
}

// Only the parts that determine results: no lines of scripts, no tuning settings, no marks of the optimizer.
proto::Graph Bare(const proto::Graph& graph) {
  proto::Graph bare = graph;
  bare.clear_producer();
  bare.clear_seed();
  for (proto::Node& node : *bare.mutable_nodes()) {
    node.clear_location();
    node.clear_user_node();
    node.clear_cache_points();
    node.clear_grouped();
    MakeBare(node.op(), node.mutable_attributes());
    VisitSteps(node.mutable_steps(), MakeStepBare);
  }
  return bare;
}

}  // namespace

proto::Step BareStep(const proto::Step& step) {
  proto::Step bare = step;
  MakeStepBare(bare);
  return bare;
}

std::string HashText(const GraphHash& hash) {
  return Cat(absl::Hex(hash.high, absl::kZeroPad16), absl::Hex(hash.low, absl::kZeroPad16));
}

GraphHash UserGraphHash(const proto::Graph& graph) { return GraphHashOfBytes(SerializeGraph(Bare(graph))); }

GraphHash SubgraphHash(const proto::Graph& graph, int node) {
  proto::Graph below = graph;
  below.mutable_nodes()->DeleteSubrange(node + 1, graph.nodes_size() - node - 1);
  proto::Graph alone = below;
  alone.clear_nodes();
  std::vector<uint32_t> ids(below.nodes_size());
  for (const int at : PostOrder(below)) {
    ids[at] = static_cast<uint32_t>(alone.nodes_size());
    proto::Node* copy = alone.add_nodes();
    *copy = below.nodes(at);
    for (uint32_t& input : *copy->mutable_inputs()) input = ids[input];
  }
  return UserGraphHash(alone);
}

std::vector<uint32_t> NodeHashes(const proto::Graph& graph) {
  std::vector<uint32_t> hashes;
  proto::Graph bare = Bare(graph);
  for (proto::Node& node : *bare.mutable_nodes()) {
    proto::Graph alone;
    alone.add_nodes()->Swap(&node);
    hashes.push_back(static_cast<uint32_t>(GraphHashOfBytes(SerializeGraph(alone)).low));
  }
  return hashes;
}

}  // namespace headrace::ir
