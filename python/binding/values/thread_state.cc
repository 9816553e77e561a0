#include "python/binding/values/thread_state.h"

#include <Python.h>

#include "python/binding/values/interpreter_end.h"
#include "python/binding/values/stay_at_exit.h"

namespace headrace::python {
namespace {

class KeptState {
 public:
  // Not by PyGILState_Ensure, which ends the process if there is no memory. Python finds the state by the thread.
  bool Make() {
    if (state_ == nullptr && MemoryForOne()) state_ = PyThreadState_New(PyInterpreterState_Main());
    return state_ != nullptr;
  }
  bool made() const { return state_ != nullptr; }
  // Runs while another thread waits for the end of this one, without the GIL.
  ~KeptState() {
    // An interpreter that is shutting down needs nothing back.
    if (state_ == nullptr || Py_IsInitialized() == 0 || InterpreterEnds()) return;
    StayAtExit([this] {
      PyEval_RestoreThread(state_);
      PyThreadState_Clear(state_);
      PyThreadState_DeleteCurrent();
    });
  }

 private:
  // Python 3.11 does not check its allocation: allocates as much, including further fields, and frees it to this
  // thread's arena.
  static bool MemoryForOne() {
    void* const memory = PyMem_RawMalloc(2 * sizeof(PyThreadState));
    PyMem_RawFree(memory);
    return memory != nullptr;
  }

  PyThreadState* state_ = nullptr;
};

thread_local KeptState kept;
thread_local bool serves = false;

}  // namespace

bool KeepThreadState() {
  // Python's own thread, or already kept.
  return PyGILState_GetThisThreadState() != nullptr || kept.Make();
}

bool OnEnginesThread() { return kept.made() || serves; }

void ServeEngine() { serves = true; }

}  // namespace headrace::python
