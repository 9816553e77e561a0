// A graph's JSON, in protobuf's mapping (https://protobuf.dev/programming-guides/json/): fields by their names in
// graph.proto, 64-bit numbers as strings. protobuf's own writer gives up below some thirty nested expressions. Pure
// functions.
#ifndef HEADRACE_IR_GRAPH_JSON_H_
#define HEADRACE_IR_GRAPH_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

std::string WriteJson(const proto::Graph& graph);

// Reads what WriteJson writes, and what else the mapping allows but `null` in lists: camelCase names, numbers as
// strings, fields left out. kGraph with the place for what is no JSON, and with the field for what the graph does not
// have, or not so.
absl::Status ReadJson(std::string_view json, proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_GRAPH_JSON_H_
