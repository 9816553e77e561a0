// `BindOutputs` adds the files that Python writes to the module: streams, sets of them, and their checksums.
// Threads: called once, when the module is imported.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_OUTPUT_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_OUTPUT_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindOutputs(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_OUTPUT_BINDING_H_
