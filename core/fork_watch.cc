#include "core/fork_watch.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace headrace {
namespace {

std::atomic<bool> lost{false};

}  // namespace

void WatchForks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { lost.store(true, std::memory_order_relaxed); }); });
}

bool LostInFork() { return lost.load(std::memory_order_relaxed); }

}  // namespace headrace
