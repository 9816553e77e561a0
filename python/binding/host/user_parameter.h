// `UserParameter` is the engine's view of a headrace.Parameter, which holds what is set.
// Threads: made with the GIL held; the others say it.
#ifndef HEADRACE_PYTHON_BINDING_HOST_USER_PARAMETER_H_
#define HEADRACE_PYTHON_BINDING_HOST_USER_PARAMETER_H_

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>

#include "engine/operator/host_parameter.h"
#include "python/binding/host/user_objects.h"

namespace headrace::python {

// `runs`: its values are fixed where they are asked for; else they may still be set.
std::shared_ptr<HostParameter> UserParameter(const pybind11::object& parameter, bool runs,
                                             std::shared_ptr<UserObjects> objects);

// The parameters that the operators of a run read in an epoch of the result, and the first and the last of the
// readers' epochs: [(parameter, first, last)]. With the GIL held.
pybind11::list ReadInEpoch(const HostBindings& bindings, uint64_t epoch);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_USER_PARAMETER_H_
