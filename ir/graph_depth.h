// How deep a graph may be, so that everything that walks one fits on any thread's stack. Constants.
#ifndef HEADRACE_IR_GRAPH_DEPTH_H_
#define HEADRACE_IR_GRAPH_DEPTH_H_

namespace headrace::ir {

// Operators from a source up to the result.
inline constexpr int kDeepestGraph = 1000;
// Calls within each other in an expression.
inline constexpr int kDeepestExpression = 250;
// Structs within each other in a column's type.
inline constexpr int kDeepestType = 32;
// Messages within each other in a written graph: two a call, and those around them.
inline constexpr int kDeepestMessage = 600;

}  // namespace headrace::ir

#endif  // HEADRACE_IR_GRAPH_DEPTH_H_
