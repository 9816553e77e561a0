// `BindVoc` binds the reader of annotations in Pascal VOC's form.
// Threads: with the GIL held, which is released while files are read.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_VOC_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_VOC_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindVoc(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_VOC_BINDING_H_
