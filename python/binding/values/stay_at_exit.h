// `StayAtExit` keeps threads from being ended in the middle of C++. At exit, Python ends every other thread that
// requests the GIL, by pthread_exit: in C++ that would run destructors which need the GIL, and end the process in one
// that must not throw. Such a thread waits for the end of the process instead.
// Threads: any thread.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_STAY_AT_EXIT_H_
#define HEADRACE_PYTHON_BINDING_VALUES_STAY_AT_EXIT_H_

#include <cxxabi.h>
#include <unistd.h>

namespace headrace::python {

// Runs `body`, which calls Python. `body` must not contain other objects with destructors.
template <typename Body>
auto StayAtExit(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const abi::__forced_unwind&) {
    while (true) pause();
  }
}

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_STAY_AT_EXIT_H_
