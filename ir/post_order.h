// `PostOrder` gives the order in which a graph is built: every node after its inputs, first input's subtree first, each
// node once.
// Threads: a pure function.
#ifndef HEADRACE_IR_POST_ORDER_H_
#define HEADRACE_IR_POST_ORDER_H_

#include <vector>

#include "ir/messages.h"

namespace headrace::ir {

// Ids of the nodes that the last one needs. Skips inputs whose id is not below their user's.
std::vector<int> PostOrder(const proto::Graph& graph);

// The most operators on a path from a source to the result.
int DepthOf(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_POST_ORDER_H_
