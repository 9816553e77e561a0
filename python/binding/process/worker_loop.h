// `BindWorkerLoop` binds the loop of a worker process: it takes calls from its parent, one after the other, and gives
// back what user code gave, until the parent sends other code to run, whose descriptor it returns. It ends as soon as
// the parent is gone, whatever user code is doing, with the processes that this started. Threads: on the main thread of
// a worker process (headrace.worker), with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_PROCESS_WORKER_LOOP_H_
#define HEADRACE_PYTHON_BINDING_PROCESS_WORKER_LOOP_H_

#include <pybind11/pybind11.h>

namespace headrace::python {

void BindWorkerLoop(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_PROCESS_WORKER_LOOP_H_
