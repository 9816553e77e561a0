// `BindFarFiles` binds what Python asks of the library for files behind a network. Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_FAR_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_FAR_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindFarFiles(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_FAR_BINDING_H_
