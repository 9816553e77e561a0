#include "python/binding/values/forkable_work.h"

#include <pthread.h>

#include <new>

#include "core/fork_watch.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

std::shared_mutex* MakeForkLock() {
  // A new one in the child: the lock belongs to the parent's thread, whose number the child's does not have.
  pthread_atfork([] { ForkLock().lock(); }, [] { ForkLock().unlock(); }, [] { new (&ForkLock()) std::shared_mutex; });
  return new std::shared_mutex;
}

}  // namespace

std::shared_mutex& ForkLock() {
  static auto* const lock = MakeForkLock();
  return *lock;
}

void CheckFork() {
  if (!LostInFork()) return;
  Raise(UnsupportedError(
      "this process was forked from one that runs a pipeline of Headrace, whose locks it shares; start "
      "workers with the 'spawn' method, or before the first iteration"));
}

}  // namespace headrace::python
