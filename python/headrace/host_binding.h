// The user's Python functions, iterators and arrays, as the engine takes them.
// Thread contract: made and dropped with the GIL held or not; calls take the GIL themselves.
#ifndef HEADRACE_PYTHON_HEADRACE_HOST_BINDING_H_
#define HEADRACE_PYTHON_HEADRACE_HOST_BINDING_H_

#include <pybind11/pybind11.h>

#include <memory>

#include "engine/operator/host.h"
#include "python/headrace/user_objects.h"

namespace headrace::python {

// From name to what it stands for: ("function", callable, wants_rng, predicate),
// ("iterator", callable, epoch_given, start_given, column names) or ("arrays", {column: array}). All but the arrays,
// and what the user's code raises, stands in `objects`; once that is cleared, calls give kClosed.
HostBindings BindingsOf(const pybind11::dict& references, const std::shared_ptr<UserObjects>& objects);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_HOST_BINDING_H_
