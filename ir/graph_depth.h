// `kDeepestGraph` and its neighbours limit the depth of a graph, so that recursive code fits on any thread's stack.
#ifndef HEADRACE_IR_GRAPH_DEPTH_H_
#define HEADRACE_IR_GRAPH_DEPTH_H_

namespace headrace::ir {

// Operators on a path from a source to the result.
inline constexpr int kDeepestGraph = 1000;
// Choosers in branches of choosers.
inline constexpr int kDeepestChoosers = 8;
// Nested calls in an expression.
inline constexpr int kDeepestExpression = 250;
// Nested structs in a column's type.
inline constexpr int kDeepestType = 32;
// Nested messages in a written graph: two per call, and those around them.
inline constexpr int kDeepestMessage = 600;

}  // namespace headrace::ir

#endif  // HEADRACE_IR_GRAPH_DEPTH_H_
