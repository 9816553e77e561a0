// `HandledSignals` runs the handlers of signals during long work without the GIL, and raises afterwards what one of
// them raised, as Ctrl-C's does. `RunInterruptible` does such work, which ends early then.
// Threads: one thread; Python runs handlers on its main thread alone.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_HANDLED_SIGNALS_H_
#define HEADRACE_PYTHON_BINDING_VALUES_HANDLED_SIGNALS_H_

#include <pybind11/pybind11.h>

#include <optional>

#include "core/interrupt.h"
#include "python/binding/values/unlocked.h"

namespace headrace::python {

class HandledSignals {
 public:
  // Without the GIL. Whether a handler raised, or the interpreter ends.
  bool Came() {
    if (_Py_IsFinalizing() != 0) return true;
    const pybind11::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) raised_.emplace();
    return raised();
  }
  bool raised() const { return raised_.has_value(); }
  // With the GIL.
  void Raise() {
    if (raised()) throw *raised_;
  }

 private:
  std::optional<pybind11::error_already_set> raised_;
};

template <typename Work>
auto RunInterruptible(const Work& work) {
  HandledSignals signals;
  decltype(work()) result;
  {
    const Unlocked unlocked;
    const Interrupt interrupt([&signals] { return signals.Came(); });
    result = work();
    // Of work that ended early.
    if (signals.raised()) result = decltype(work())();
  }
  signals.Raise();
  return result;
}

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_HANDLED_SIGNALS_H_
