// `BindGraph` binds what makes graphs from Python: values, expressions, nodes and graphs.
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_GRAPH_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_GRAPH_BINDING_H_

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "engine/plan/stage_limits.h"
#include "ir/graph.pb.h"
#include "ir/type.h"

namespace headrace::python {

// A canonical graph.
struct __attribute__((visibility("hidden"))) BoundGraph {
  ir::proto::Graph graph;
  // Names of the references, in the order of nodes, steps and attributes.
  std::vector<std::string> references;
  // What the user fixed of single operators, outside the graph.
  OperatorLimits limits;
};

// [(name, dtype, shape)], shape None if the rank is unknown, dimensions None if unknown.
pybind11::list SchemaList(const ir::Schema& schema);

void BindGraph(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_GRAPH_BINDING_H_
