// `BindIterator` binds a running pipeline for Python.
// Threads: with the GIL held, which is released while waiting and closing.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_ITERATOR_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_ITERATOR_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindIterator(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_ITERATOR_BINDING_H_
