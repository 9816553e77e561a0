// `BindFiles` adds what the package does with files that may be far: it reads, looks at and lists them by the engine's
// file systems, with the storage settings of Python's context, and registers file systems of Python's.
// Threads: called once, when the module is imported.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_FILES_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_FILES_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindFiles(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_FILES_BINDING_H_
