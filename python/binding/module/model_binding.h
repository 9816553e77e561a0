// `BindModelEntries` binds the texts that travel with a model, in its file or beside it.
// Threads: with the GIL held, which is released while files are read and written.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_MODEL_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_MODEL_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindModelEntries(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_MODEL_BINDING_H_
