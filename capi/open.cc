#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "capi/call_status.h"
#include "capi/graph_file.h"
#include "capi/graph_handle.h"
#include "capi/self_check.h"
#include "core/error.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"

namespace headrace::capi {
namespace {

using Graph = std::shared_ptr<const InferenceGraph>;

absl::Status CheckOptions(const hr_open_options* options) {
  if (options == nullptr) return ArgumentError("options is NULL");
  if (options->size != sizeof(hr_open_options)) {
    return ArgumentError("size must be sizeof(hr_open_options), which is ", sizeof(hr_open_options), " here; got ",
                         options->size);
  }
  if ((options->path == nullptr) == (options->bytes == nullptr)) {
    return ArgumentError("give one of path and bytes; got ", options->path == nullptr ? "none" : "both");
  }
  if (options->bytes != nullptr && options->verify != 0) {
    return ArgumentError("verify is for models in files; bytes of a graph have nothing to compare with");
  }
  return absl::OkStatus();
}

absl::StatusOr<Graph> OpenSaved(std::string_view bytes) {
  HEADRACE_ASSIGN_OR_RETURN(const ir::proto::Graph graph, ir::ParseSavedGraph(bytes));
  return InferenceGraph::Make(graph);
}

// Saving writes the version of each operator.
bool NamesVersions(const ir::proto::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) { return node.version() != 0; });
}

// Programs of version 1 have bytes that were written by hand, without versions, and without the producer that saved
// graphs end with.
absl::StatusOr<Graph> OpenBytes(std::string_view bytes) {
  HEADRACE_ASSIGN_OR_RETURN(const ir::proto::Graph graph, ir::ParseGraph(bytes));
  if (graph.producer().empty() && NamesVersions(graph)) return ir::ParseSavedGraph(bytes).status();
  return InferenceGraph::Make(graph);
}

absl::StatusOr<Graph> OpenFile(const std::string& path, bool verify) {
  HEADRACE_ASSIGN_OR_RETURN(const GraphFile file, ReadGraphFile(path));
  absl::StatusOr<Graph> graph = OpenSaved(file.graph);
  absl::Status error = graph.status();
  if (graph.ok() && verify) error = RunSelfCheck(**graph, file.check);
  if (error.ok()) return graph;
  AddErrorField(error, ErrorField::kFile, path);
  return error;
}

absl::StatusOr<Graph> Open(const hr_open_options& options) {
  if (options.path != nullptr) return OpenFile(options.path, options.verify != 0);
  return OpenBytes({static_cast<const char*>(options.bytes), options.byte_count});
}

}  // namespace
}  // namespace headrace::capi

hr_status* hr_open(const hr_open_options* options, hr_graph** graph) {
  using headrace::capi::Graph;
  return headrace::capi::Guarded([&]() -> absl::Status {
    if (graph == nullptr) return headrace::capi::ArgumentError("graph is NULL");
    *graph = nullptr;
    HEADRACE_RETURN_IF_ERROR(headrace::capi::CheckOptions(options));
    HEADRACE_ASSIGN_OR_RETURN(Graph opened, headrace::capi::Open(*options));
    *graph = new hr_graph{std::move(opened)};
    return absl::OkStatus();
  });
}

void hr_close(hr_graph* graph) { delete graph; }
