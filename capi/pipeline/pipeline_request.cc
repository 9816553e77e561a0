#include "capi/pipeline/pipeline_request.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "capi/call_status.h"
#include "capi/graph_file.h"
#include "core/error.h"
#include "engine/front/run_options.h"
#include "ir/canonical.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"

namespace headrace::capi {
namespace {

absl::Status CheckPipelineOptions(const hr_pipeline_options* given) {
  if (given == nullptr) return ArgumentError("options is NULL");
  if (given->size != sizeof(hr_pipeline_options)) {
    return ArgumentError("size must be sizeof(hr_pipeline_options), which is ", sizeof(hr_pipeline_options),
                         " here; got ", given->size);
  }
  if ((given->path == nullptr) == (given->bytes == nullptr)) {
    return ArgumentError("give one of path and bytes; got ", given->path == nullptr ? "none" : "both");
  }
  if (given->option_count > 0 && given->options == nullptr) return ArgumentError("options is NULL");
  if (given->state_bytes > 0 && given->state == nullptr) return ArgumentError("state is NULL");
  return absl::OkStatus();
}

// Options of runs whose rows are on a device, where outputs are not, and those that hr_pipeline_options has fields for
// or that are the same for all its pipelines.
bool IsOfOthers(std::string_view name) {
  constexpr std::string_view kNames[] = {"device",         "device_depth", "device_memory",
                                         "page_locked_of", "endless",      "state"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

absl::Status CheckOption(const hr_option& option) {
  if (option.size != sizeof(hr_option)) {
    return ArgumentError("size must be sizeof(hr_option), which is ", sizeof(hr_option), " here; got ", option.size);
  }
  if (option.name == nullptr) return ArgumentError("the name of an option is NULL");
  if (IsOfOthers(option.name)) {
    return ArgumentError("a pipeline of the C library has no option \"", option.name, "\": rows are in host memory, ",
                         "and states are given as hr_pipeline_options.state");
  }
  return absl::OkStatus();
}

RunOption RunOptionOf(const hr_option& option) {
  if (option.text != nullptr) return {option.name, std::string(option.text)};
  return {option.name, option.number};
}

absl::StatusOr<IterateOptions> OptionsOf(const hr_pipeline_options& given) {
  // A program that is not told otherwise starts no thread.
  std::vector<RunOption> options{{"pull", true}, {"endless", true}};
  for (const hr_option& option : absl::MakeConstSpan(given.options, given.option_count)) {
    HEADRACE_RETURN_IF_ERROR(CheckOption(option));
    options.push_back(RunOptionOf(option));
  }
  if (given.state_bytes > 0) {
    options.push_back({"state", std::string(static_cast<const char*>(given.state), given.state_bytes)});
  }
  return RunOptionsOf(options);
}

absl::Status RefuseReferences(const ir::proto::Graph& graph) {
  std::string names;
  for (const std::string& name : ir::References(graph)) Append(names, names.empty() ? "" : ", ", name);
  if (names.empty()) return absl::OkStatus();
  return UnsupportedError("the graph runs only where these Python functions and arrays are given: ", names);
}

absl::StatusOr<ir::proto::Graph> GraphOf(std::string_view bytes) {
  HEADRACE_ASSIGN_OR_RETURN(ir::proto::Graph graph, ir::ParseSavedGraph(bytes));
  HEADRACE_RETURN_IF_ERROR(ir::Canonicalize(graph));
  HEADRACE_RETURN_IF_ERROR(RefuseReferences(graph));
  return graph;
}

absl::StatusOr<ir::proto::Graph> GraphIn(const hr_pipeline_options& given) {
  if (given.path == nullptr) return GraphOf({static_cast<const char*>(given.bytes), given.byte_count});
  HEADRACE_ASSIGN_OR_RETURN(const GraphFile file, ReadGraphFile(given.path));
  absl::StatusOr<ir::proto::Graph> graph = GraphOf(file.graph);
  if (graph.ok()) return graph;
  absl::Status error = graph.status();
  AddErrorField(error, ErrorField::kFile, given.path);
  return error;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> SessionOf(const hr_pipeline_options* given) {
  HEADRACE_RETURN_IF_ERROR(CheckPipelineOptions(given));
  HEADRACE_ASSIGN_OR_RETURN(IterateOptions options, OptionsOf(*given));
  HEADRACE_ASSIGN_OR_RETURN(const ir::proto::Graph graph, GraphIn(*given));
  return Session::Start(graph, std::move(options));
}

}  // namespace headrace::capi
