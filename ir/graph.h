// `SerializeGraph`, `GraphToText` and `GraphToJson` write a graph as bytes (a .hrg file), text and JSON; their
// counterparts read all three with the same checks. Reading checks form and versions only; Validate checks the meaning.
// Threads: pure functions.
#ifndef HEADRACE_IR_GRAPH_H_
#define HEADRACE_IR_GRAPH_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/declaration.h"
#include "ir/messages.h"

namespace headrace::ir {

inline constexpr uint32_t kFormat = 2;
// The op whose node carries steps.
inline constexpr std::string_view kMapOp = "map";

// Deterministic: equal graphs give equal bytes.
std::string SerializeGraph(const proto::Graph& graph);
// kGraph for damaged bytes, for another format, for a newer operator version, and for any field this version does not
// know.
absl::StatusOr<proto::Graph> ParseGraph(std::string_view bytes);
// As ParseGraph, of what was saved, which ends with the version that wrote it: kGraph also for a graph that was cut off
// behind one of its operators.
absl::StatusOr<proto::Graph> ParseSavedGraph(std::string_view bytes);

std::string GraphToText(const proto::Graph& graph);
absl::StatusOr<proto::Graph> ParseGraphText(std::string_view text);

// See ir/graph_json.h.
std::string GraphToJson(const proto::Graph& graph);
absl::StatusOr<proto::Graph> ParseGraphJson(std::string_view json);

// kGraph if an operator's version is above its declaration's; unknown operators are left to Validate.
absl::Status CheckVersions(const proto::Graph& graph);

// The user's functions and arrays that the graph names, each once, in order. If there are any, the graph runs only with
// bindings for them.
std::vector<std::string> References(const proto::Graph& graph);

// "train.py:12"; "" if not known.
std::string LocationText(const proto::Location& location);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_GRAPH_H_
