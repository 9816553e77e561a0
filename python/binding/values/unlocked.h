// `Unlocked` releases the GIL for a block of code that waits or works without Python.
// Threads: made and destroyed by one thread, which holds the GIL around it.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_UNLOCKED_H_
#define HEADRACE_PYTHON_BINDING_VALUES_UNLOCKED_H_

#include <Python.h>
#include <unistd.h>

#include "python/binding/values/interpreter_end.h"
#include "python/binding/values/stay_at_exit.h"

namespace headrace::python {

class Unlocked {
 public:
  // While the interpreter shuts down its last thread keeps the GIL: no other thread may take it any more.
  Unlocked() : state_(InterpreterEnds() ? nullptr : PyEval_SaveThread()) {}
  ~Unlocked() {
    if (state_ == nullptr) return;
    // A daemon thread at the interpreter's end: the process ends it soon.
    while (InterpreterEnds()) pause();
    StayAtExit([this] { PyEval_RestoreThread(state_); });
  }
  Unlocked(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_UNLOCKED_H_
