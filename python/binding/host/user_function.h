// `UserFunction` is a user function that is called in this process.
// Threads: made with the GIL held; as HostFunction's.
#ifndef HEADRACE_PYTHON_BINDING_HOST_USER_FUNCTION_H_
#define HEADRACE_PYTHON_BINDING_HOST_USER_FUNCTION_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/operator/host.h"
#include "engine/operator/host_parameter.h"
#include "python/binding/host/user_objects.h"

namespace headrace::python {

// The qualified name, or that of its type.
std::string NameOfCallable(const pybind11::handle& callable);

// The parameters that a function reads, by the names of its arguments.
using ReadParameters = std::vector<std::pair<std::string, std::shared_ptr<HostParameter>>>;

// `wants_rng`: it takes `rng`, a generator of the row's own. `predicate`: its result is taken as bool.
std::shared_ptr<HostFunction> UserFunction(const pybind11::object& callable, bool wants_rng, bool predicate,
                                           ReadParameters reads, std::shared_ptr<UserObjects> objects);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_USER_FUNCTION_H_
