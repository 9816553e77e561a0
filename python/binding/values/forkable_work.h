// `RunForkable` does the work of one call outside of pipelines, without the GIL: a fork waits for it to end, so that a
// child finds no lock taken and may call the same; `RunInAnyProcess` also in the child of a process that runs
// pipelines, where the work takes none of the engine's locks. `RunForkableInterruptible` does work that may also end
// early, where it looks at StopSignal, if the handler of a signal raises. Threads: called with the GIL held, on any
// thread.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_FORKABLE_WORK_H_
#define HEADRACE_PYTHON_BINDING_VALUES_FORKABLE_WORK_H_

#include <shared_mutex>
#include <utility>

#include "core/interrupt.h"
#include "python/binding/values/context_storage.h"
#include "python/binding/values/handled_signals.h"
#include "python/binding/values/shown_listings.h"
#include "python/binding/values/unlocked.h"

namespace headrace::python {

// Held shared by work, and by the thread that forks.
std::shared_mutex& ForkLock();

// Raises UnsupportedError in a process that was forked from one with a running pipeline: its locks may be taken.
void CheckFork();

// This thread's hold of ForkLock.
class WorkingHold {
 public:
  WorkingHold() : lock_(ForkLock()), outer_(std::exchange(latest_, this)) {}
  ~WorkingHold() { latest_ = outer_; }
  WorkingHold(const WorkingHold&) = delete;

  // Lets forks go on while it lives: for work that waits for another thread, which needs the GIL.
  class Pause {
   public:
    Pause() : paused_(latest_ != nullptr && latest_->lock_.owns_lock() ? latest_ : nullptr) {
      if (paused_ != nullptr) paused_->lock_.unlock();
    }
    ~Pause() {
      if (paused_ != nullptr) paused_->lock_.lock();
    }
    Pause(const Pause&) = delete;

   private:
    WorkingHold* const paused_;
  };

 private:
  static inline thread_local WorkingHold* latest_ = nullptr;

  std::shared_lock<std::shared_mutex> lock_;
  WorkingHold* const outer_;
};

template <typename F>
auto RunInAnyProcess(const F& work) {
  const ContextStorage storage;
  const Unlocked unlocked;
  const WorkingHold working;
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
  const ContextStorage storage;
  HandledSignals signals;
  decltype(work()) result;
  {
    const Unlocked unlocked;
    const WorkingHold working;
    const Interrupt interrupt([&] {
      const WorkingHold::Pause pause;
      return signals.Came();
    });
    const ShownListings listings;
    result = work();
  }
  signals.Raise();
  return result;
}

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_FORKABLE_WORK_H_
