// `StatusOfError` gives the Status that an exception of Headrace was made of: that of a row that another run met.
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_STATUS_OF_ERROR_H_
#define HEADRACE_PYTHON_BINDING_VALUES_STATUS_OF_ERROR_H_

#include <pybind11/pybind11.h>

#include <optional>

#include "absl/status/status.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {

// With its fields, and its cause kept in `raised`. nullopt: the exception is not of Headrace's.
std::optional<absl::Status> StatusOfError(const pybind11::object& exception, RaisedExceptions& raised);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_STATUS_OF_ERROR_H_
