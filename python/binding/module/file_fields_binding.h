// `BindFileFields` binds what the package asks of files whose columns they name themselves, .npy, .npz and MDS: their
// fields, before a pipeline reads them.
// Threads: with the GIL held, which is released while files are read.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_FILE_FIELDS_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_FILE_FIELDS_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindFileFields(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_FILE_FIELDS_BINDING_H_
