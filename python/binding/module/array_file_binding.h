// `BindArrayFiles` binds MXNet's files of named arrays for Python.
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_ARRAY_FILE_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_ARRAY_FILE_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindArrayFiles(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_ARRAY_FILE_BINDING_H_
