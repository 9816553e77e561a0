// `BindRecords` binds RecordIO files for Python: a writer, and a reader that goes on from any record.
// Threads: with the GIL held, which is released while files are read and written. A fork waits for such a call to end:
// a child goes on with a reader, and leaves a writer to its parent.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_RECORD_BINDING_H_
#define HEADRACE_PYTHON_BINDING_MODULE_RECORD_BINDING_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindRecords(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_RECORD_BINDING_H_
