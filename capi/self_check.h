// `RunSelfCheck` runs the request that is stored beside a graph, and compares the results with those of the machine
// that attached the graph: where they differ, so would every answer of the model. Threads: any thread.
#ifndef HEADRACE_CAPI_SELF_CHECK_H_
#define HEADRACE_CAPI_SELF_CHECK_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "engine/serve/inference_graph.h"

namespace headrace::capi {

// kNotFound: nothing is stored. kData: it cannot be read, or does not fit the graph. kUnsupported: this machine gives
// other results; the message names the first step that differs.
absl::Status RunSelfCheck(const InferenceGraph& graph, const std::optional<std::string>& stored);

}  // namespace headrace::capi

#endif  // HEADRACE_CAPI_SELF_CHECK_H_
