#include "python/headrace/thread_state.h"

#include <Python.h>

namespace headrace::python {
namespace {

class KeptState {
 public:
  KeptState() {
    PyGILState_Ensure();
    state_ = PyEval_SaveThread();
  }
  // Runs while whoever ends the thread waits for it without the GIL.
  ~KeptState() {
    // Nothing is left to give back to an interpreter that goes away.
    if (Py_IsInitialized() == 0 || _Py_IsFinalizing() != 0) return;
    PyEval_RestoreThread(state_);
    PyGILState_Release(PyGILState_UNLOCKED);
  }

 private:
  PyThreadState* state_;
};

}  // namespace

void KeepThreadState() {
  // Python's own thread, or kept already.
  if (PyGILState_GetThisThreadState() != nullptr) return;
  thread_local const KeptState kept;
}

}  // namespace headrace::python
