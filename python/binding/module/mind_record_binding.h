// `BindMindRecords` binds what the package asks of MindRecord files: their fields, before a pipeline reads
// them, and where their rows are, before others are appended.
// Threads: with the GIL held, which is released while files are read.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_MIND_RECORD_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_MIND_RECORD_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindMindRecords(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_MIND_RECORD_BINDING_H_
