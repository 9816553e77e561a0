// `BindingsOf` adapts the user's Python functions, iterators and arrays to the engine.
// Threads: made and dropped with or without the GIL; calls take the GIL themselves.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_HOST_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_HOST_BINDING_H_

#include <pybind11/pybind11.h>

#include <memory>

#include "engine/operator/host.h"
#include "python/binding/host/user_objects.h"

namespace headrace::python {

// From a name to its object, in the forms of headrace/reference.py. Everything but the arrays, and the exceptions of
// the user's code, is held by `objects`; once that is cleared, calls return kClosed. `runs`: the objects will be
// called, so that what goes to other processes is packed now.
HostBindings BindingsOf(const pybind11::dict& references, bool runs, const std::shared_ptr<UserObjects>& objects);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_HOST_BINDING_H_
