// `RunForkable` does the work of one call outside of pipelines, without the GIL: a fork waits for it to end, so that a
// child finds no lock taken and may call the same; `RunInAnyProcess` also in the child of a process that runs
// pipelines, where the work takes none of the engine's locks. `RunForkableInterruptible` does work that may also end
// early, where it looks at StopSignal, if the handler of a signal raises. Threads: called with the GIL held, on any
// thread.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_FORKABLE_WORK_H_
#define HEADRACE_PYTHON_BINDING_VALUES_FORKABLE_WORK_H_

#include <shared_mutex>

#include "core/interrupt.h"
#include "python/binding/values/handled_signals.h"
#include "python/binding/values/unlocked.h"

namespace headrace::python {

// Held shared by work, and by the thread that forks.
std::shared_mutex& ForkLock();

// Raises UnsupportedError in a process that was forked from one with a running pipeline: its locks may be taken.
void CheckFork();

template <typename F>
auto RunInAnyProcess(const F& work) {
  const Unlocked unlocked;
  const std::shared_lock<std::shared_mutex> working(ForkLock());
  // One outside would take the GIL, which a thread that forks holds while it waits for the lock.
  const Interrupt none([] { return false; });
  return work();
}

template <typename F>
auto RunForkable(const F& work) {
  CheckFork();
  return RunInAnyProcess(work);
}

template <typename F>
auto RunForkableInterruptible(const F& work) {
  CheckFork();
  HandledSignals signals;
  decltype(work()) result;
  {
    const Unlocked unlocked;
    std::shared_lock<std::shared_mutex> working(ForkLock());
    const Interrupt interrupt([&] {
      working.unlock();
      const bool came = signals.Came();
      working.lock();
      return came;
    });
    result = work();
  }
  signals.Raise();
  return result;
}

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_FORKABLE_WORK_H_
