// `BoundFunction` finds the user function that a graph names.
// Threads: a pure function.
#ifndef HEADRACE_OPS_ROWS_BOUND_FUNCTION_H_
#define HEADRACE_OPS_ROWS_BOUND_FUNCTION_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/error.h"
#include "engine/operator/host.h"

namespace headrace {

// kGraph if it is not bound in this process.
inline absl::StatusOr<std::shared_ptr<HostFunction>> BoundFunction(const HostBindings& bindings,
                                                                   const std::string& name) {
  const auto found = bindings.functions.find(name);
  if (found != bindings.functions.end()) return found->second;
  return GraphError("the Python function ", name, " is not here: a graph that holds one runs only where it was built");
}

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_BOUND_FUNCTION_H_
