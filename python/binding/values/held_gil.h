// `HeldGil` holds the GIL on a thread, which may be one of the engine's: at exit the thread waits for the end of the
// process. Call KeepThreadState before it.
// Threads: made and destroyed on one thread, with or without the GIL.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_HELD_GIL_H_
#define HEADRACE_PYTHON_BINDING_VALUES_HELD_GIL_H_

#include <pybind11/pybind11.h>

#include "python/binding/values/stay_at_exit.h"

namespace headrace::python {

class HeldGil {
 public:
  HeldGil() : state_(StayAtExit([] { return PyGILState_Ensure(); })) {}
  ~HeldGil() { PyGILState_Release(state_); }
  HeldGil(const HeldGil&) = delete;

 private:
  const PyGILState_STATE state_;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_HELD_GIL_H_
