// `hr_graph` is what the C interface calls a graph.
// Threads: immutable.
#ifndef HEADRACE_CAPI_GRAPH_HANDLE_H_
#define HEADRACE_CAPI_GRAPH_HANDLE_H_

#include <memory>

#include "capi/headrace.h"
#include "engine/serve/inference_graph.h"

struct hr_graph {
  std::shared_ptr<const headrace::InferenceGraph> graph;
};

#endif  // HEADRACE_CAPI_GRAPH_HANDLE_H_
