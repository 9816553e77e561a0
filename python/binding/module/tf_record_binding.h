// `BindTfRecords` binds what writes rows as records of TFRecord files, and what looks at their features, for Python.
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_TF_RECORD_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_TF_RECORD_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindTfRecords(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_TF_RECORD_BINDING_H_
