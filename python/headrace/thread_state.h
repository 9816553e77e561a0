// Python's idea of a thread that is not Python's: kept as long as the thread lives, so that what user code stores by
// thread (threading.local) is there at the next call, and a call does not pay for making it.
// Thread contract: on the thread in question, without the GIL or with it.
#ifndef HEADRACE_PYTHON_HEADRACE_THREAD_STATE_H_
#define HEADRACE_PYTHON_HEADRACE_THREAD_STATE_H_

namespace headrace::python {

// False: there is no memory for it.
bool KeepThreadState();
// This thread is no thread of Python's.
bool OnEnginesThread();

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_THREAD_STATE_H_
