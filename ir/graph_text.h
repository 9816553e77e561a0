// `WriteText` and `ReadText` convert a graph to and from protobuf's text format
// (https://protobuf.dev/reference/protobuf/textformat-spec/), as its full library does.
// Threads: pure functions.
#ifndef HEADRACE_IR_GRAPH_TEXT_H_
#define HEADRACE_IR_GRAPH_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

// A line for each value. Control characters in strings are escapes, other characters stay as they are.
std::string WriteText(const proto::Graph& graph);

// The bytes of the graph, for ParseGraph. kGraph with the line and column of what is not the text of a graph.
absl::StatusOr<std::string> ReadText(std::string_view text);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_GRAPH_TEXT_H_
