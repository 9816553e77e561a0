// `HandledSignals` runs the handlers of signals during long work without the GIL, and raises afterwards what one of
// them raised, as Ctrl-C's does. Python runs handlers itself where the work calls it: what they raise there is kept
// likewise. `RunInterruptible` does such work, which ends early then, and reads files by the settings of Python's
// context. Threads: one thread; Python runs handlers on its main thread alone.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_HANDLED_SIGNALS_H_
#define HEADRACE_PYTHON_BINDING_VALUES_HANDLED_SIGNALS_H_

#include <pybind11/pybind11.h>

#include <optional>
#include <utility>

#include "core/interrupt.h"
#include "python/binding/values/context_storage.h"
#include "python/binding/values/interpreter_end.h"
#include "python/binding/values/shown_listings.h"
#include "python/binding/values/unlocked.h"

namespace headrace::python {

class __attribute__((visibility("hidden"))) HandledSignals {
 public:
  HandledSignals() : outer_(std::exchange(latest_, this)) {}
  ~HandledSignals() { latest_ = outer_; }
  HandledSignals(const HandledSignals&) = delete;

  // With the GIL. Keeps an exception that Python code which the work calls did not raise for itself: one such as
  // KeyboardInterrupt, which is not an Exception. Whether it did: the work ends now, with StopSignal::Error.
  static bool Keep(const pybind11::error_already_set& raised) {
    if (latest_ == nullptr || raised.matches(PyExc_Exception)) return false;
    latest_->raised_.emplace(raised);
    return true;
  }
  // Without the GIL. Whether a handler raised, or the interpreter ends.
  bool Came() {
    if (InterpreterEnds()) return true;
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
  static inline thread_local HandledSignals* latest_ = nullptr;

  HandledSignals* const outer_;
  std::optional<pybind11::error_already_set> raised_;
};

template <typename Work>
auto RunInterruptible(const Work& work) {
  const ContextStorage storage;
  HandledSignals signals;
  decltype(work()) result;
  {
    const Unlocked unlocked;
    const Interrupt interrupt([&signals] { return signals.Came(); });
    const ShownListings listings;
    result = work();
    // Of work that ended early.
    if (signals.raised()) result = decltype(work())();
  }
  signals.Raise();
  return result;
}

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_HANDLED_SIGNALS_H_
