// `KeepThreadState` keeps Python's state of an engine thread as long as the thread lives, so that data that user code
// stores by thread (threading.local) is there at the next call, and a call does not pay for making the state.
// Threads: on the thread in question, with or without the GIL.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_THREAD_STATE_H_
#define HEADRACE_PYTHON_BINDING_VALUES_THREAD_STATE_H_

namespace headrace::python {

// False: there is no memory for it.
bool KeepThreadState();
// This thread was not started by Python, or serves an engine as the main one of a worker process.
bool OnEnginesThread();
void ServeEngine();

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_THREAD_STATE_H_
