// `UserGraphHash` names a user's graph in states: it is equal for graphs that give the same rows in the same order for
// a seed. The bits are the same in every version of Headrace, because states outlive a version.
// Threads: pure functions.
#ifndef HEADRACE_IR_GRAPH_HASH_H_
#define HEADRACE_IR_GRAPH_HASH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/messages.h"

namespace headrace::ir {

struct GraphHash {
  uint64_t high = 0;
  uint64_t low = 0;
  friend bool operator==(const GraphHash&, const GraphHash&) = default;
};

// 32 hexadecimal digits.
std::string HashText(const GraphHash& hash);

// For a canonical graph. Excludes locations, producer, seed and attributes that only tune speed; of
// choices that give the same results, one stands for all.
GraphHash UserGraphHash(const proto::Graph& graph);
// Covers the node and all nodes below it, which determine its rows.
GraphHash SubgraphHash(const proto::Graph& graph, int node);
// The step with only what its results depend on, as in these hashes; its branches are as they were.
proto::Step BareStep(const proto::Step& step);
// The hash of each node alone, over the same parts: shows where two graphs differ.
std::vector<uint32_t> NodeHashes(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_GRAPH_HASH_H_
