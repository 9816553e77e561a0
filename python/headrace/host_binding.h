// Adapts the user's Python functions, iterators and arrays to the engine.
// Thread contract: made and dropped with or without the GIL; calls take the GIL themselves.
#ifndef HEADRACE_PYTHON_HEADRACE_HOST_BINDING_H_
#define HEADRACE_PYTHON_HEADRACE_HOST_BINDING_H_

#include <pybind11/pybind11.h>

#include <memory>

#include "engine/operator/host.h"
#include "python/headrace/user_objects.h"

namespace headrace::python {

// From a name to its object: ("function", callable, wants_rng, predicate), ("iterator", callable, epoch_given,
// start_given, column names) or ("arrays", {column: array}). Everything but the arrays, and the exceptions of the
// user's code, is held by `objects`; once that is cleared, calls return kClosed.
HostBindings BindingsOf(const pybind11::dict& references, const std::shared_ptr<UserObjects>& objects);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_HOST_BINDING_H_
