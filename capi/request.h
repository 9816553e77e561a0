// `RunRequest` runs a graph from structures of the C interface into such structures.
// Threads: any number at once, each with structures of its own.
#ifndef HEADRACE_CAPI_REQUEST_H_
#define HEADRACE_CAPI_REQUEST_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "capi/headrace.h"
#include "engine/serve/inference_graph.h"

namespace headrace::capi {

// That there are as many inputs and outputs as the graph has, and structures for them.
absl::Status CheckCounts(const hr_graph* graph, const hr_tensor* inputs, size_t input_count, const hr_tensor* outputs,
                         size_t output_count);

// One input and one output for each of the graph.
absl::Status RunRequest(const InferenceGraph& graph, absl::Span<const hr_tensor> inputs, absl::Span<hr_tensor> outputs);

}  // namespace headrace::capi

#endif  // HEADRACE_CAPI_REQUEST_H_
