// `BindKernels` binds what loads plugins, and what runs a kernel on one value, without a graph.
// Threads: with the GIL held, which is released meanwhile.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_KERNEL_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_KERNEL_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindKernels(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_KERNEL_BINDING_H_
