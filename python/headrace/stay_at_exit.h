// While the interpreter goes away, Python ends every other thread that asks for the GIL, by pthread_exit: in the middle
// of C++ that would run destructors which need the GIL, and end the process where one must not throw. Such a thread
// waits for the end of the process instead.
// Thread contract: any thread.
#ifndef HEADRACE_PYTHON_HEADRACE_STAY_AT_EXIT_H_
#define HEADRACE_PYTHON_HEADRACE_STAY_AT_EXIT_H_

#include <cxxabi.h>
#include <unistd.h>

namespace headrace::python {

// Runs `body`, which calls Python. Nothing that has a destructor may stand in it besides.
template <typename Body>
auto StayAtExit(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const abi::__forced_unwind&) {
    while (true) pause();
  }
}

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_STAY_AT_EXIT_H_
