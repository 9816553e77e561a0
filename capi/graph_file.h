// `ReadGraphFile` finds a graph in a file: in a saved graph, or attached to a model.
// Threads: any thread.
#ifndef HEADRACE_CAPI_GRAPH_FILE_H_
#define HEADRACE_CAPI_GRAPH_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headrace::capi {

struct GraphFile {
  std::string graph;                 // its bytes, as they are there: ir::ParseSavedGraph checks them
  std::optional<std::string> check;  // what was stored beside it, to compare this machine by
};

// kNotFound: there is no such file, or no graph in it. kData: it is damaged, or of no format that holds graphs. Errors
// name the file.
absl::StatusOr<GraphFile> ReadGraphFile(const std::string& path);

// Whether a file that begins so is a saved graph: its format, then its first node, which begins with an operator's
// name. A model in ONNX begins with numbers and texts only.
bool BeginsAsGraph(std::string_view head);

}  // namespace headrace::capi

#endif  // HEADRACE_CAPI_GRAPH_FILE_H_
