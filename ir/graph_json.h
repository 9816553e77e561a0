// `WriteJson` and `ReadJson` convert a graph to and from JSON in protobuf's mapping
// (https://protobuf.dev/programming-guides/json/): fields by their names in graph.proto, 64-bit numbers as strings.
// Threads: pure functions.
#ifndef HEADRACE_IR_GRAPH_JSON_H_
#define HEADRACE_IR_GRAPH_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

std::string WriteJson(const proto::Graph& graph);

// The bytes of the graph, for ParseGraph. Reads what WriteJson writes, and everything else that the mapping allows
// except `null` in lists: camelCase names, numbers as strings, missing fields. kGraph with the line and column of
// invalid JSON, or with the field that the graph does not have, or has with another type.
absl::StatusOr<std::string> ReadJson(std::string_view json);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_GRAPH_JSON_H_
