// The user's Python functions, iterators and arrays, as the engine takes them.
// Thread contract: made and dropped with the GIL held or not; calls take the GIL themselves.
#ifndef HEADRACE_PYTHON_HOST_BINDING_H_
#define HEADRACE_PYTHON_HOST_BINDING_H_

#include <pybind11/pybind11.h>

#include <memory>

#include "engine/host.h"
#include "python/headrace/status_error.h"

namespace headrace::python {

// From name to what it stands for: ("function", callable, wants_rng, predicate),
// ("iterator", callable, epoch_given, start_given, column names) or ("arrays", {column: array}). Exceptions of the
// user's are kept in `raised`, which must outlive nothing: it is shared.
HostBindings BindingsOf(const pybind11::dict& references, const std::shared_ptr<RaisedExceptions>& raised);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HOST_BINDING_H_
