// `BindInference` adds inference graphs to the module: the preprocessing of single requests.
// Threads: called once, when the module is imported. Graphs are called from any thread with the GIL held, which is
// released meanwhile.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_INFERENCE_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_INFERENCE_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindInference(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_INFERENCE_BINDING_H_
