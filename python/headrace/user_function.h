// A function of the user's, called in this process.
// Thread contract: made with the GIL held; as HostFunction's.
#ifndef HEADRACE_PYTHON_HEADRACE_USER_FUNCTION_H_
#define HEADRACE_PYTHON_HEADRACE_USER_FUNCTION_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "engine/operator/host.h"
#include "python/headrace/user_objects.h"

namespace headrace::python {

// The qualified name, or that of its type.
std::string NameOfCallable(const pybind11::handle& callable);

// `wants_rng`: it takes `rng`, a generator of the row's own. `predicate`: its result is taken as bool.
std::shared_ptr<HostFunction> UserFunction(const pybind11::object& callable, bool wants_rng, bool predicate,
                                           std::shared_ptr<UserObjects> objects);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_USER_FUNCTION_H_
