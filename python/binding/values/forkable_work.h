// `RunForkable` does the work of one call outside of pipelines, without the GIL: a fork waits for it to end, so that a
// child finds no lock taken and may call the same.
// Threads: called with the GIL held, on any thread.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_FORKABLE_WORK_H_
#define HEADRACE_PYTHON_BINDING_VALUES_FORKABLE_WORK_H_

#include <shared_mutex>

#include "python/binding/values/unlocked.h"

namespace headrace::python {

// Held shared by work, and by the thread that forks.
std::shared_mutex& ForkLock();

// Raises UnsupportedError in a process that was forked from one with a running pipeline: its locks may be taken.
void CheckFork();

template <typename F>
auto RunForkable(const F& work) {
  CheckFork();
  const Unlocked unlocked;
  const std::shared_lock<std::shared_mutex> working(ForkLock());
  return work();
}

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_FORKABLE_WORK_H_
