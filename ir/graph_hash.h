// The name of a user's graph in states: equal for graphs that give the same rows in the same order for a seed.
// Pure functions; the same bits in every version of Headrace, for states outlive it.
#ifndef HEADRACE_IR_GRAPH_HASH_H_
#define HEADRACE_IR_GRAPH_HASH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.pb.h"

namespace headrace::ir {

struct GraphHash {
  uint64_t high = 0;
  uint64_t low = 0;
  friend bool operator==(const GraphHash&, const GraphHash&) = default;
};

// 32 hexadecimal digits.
std::string HashText(const GraphHash& hash);

// Of a canonical graph. Locations, producer, seed and attributes that only tune speed take no part.
GraphHash UserGraphHash(const proto::Graph& graph);
// Of what the node gives: of it and all below it.
GraphHash SubgraphHash(const proto::Graph& graph, int node);
// Of each node alone, of the same parts: says where two graphs differ.
std::vector<uint32_t> NodeHashes(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_GRAPH_HASH_H_
