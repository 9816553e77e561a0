// `BriefLock` locks a mutex that is held for about a microsecond at a time. It tries for that long before it sleeps,
// because putting a thread to sleep and waking it costs tens of microseconds.
// Threads: any thread.
#ifndef HEADRACE_CORE_BRIEF_LOCK_H_
#define HEADRACE_CORE_BRIEF_LOCK_H_

#include <mutex>

namespace headrace {

inline void PauseCpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

inline std::unique_lock<std::mutex> BriefLock(std::mutex& mutex) {
  constexpr int kTries = 64;
  for (int i = 0; i < kTries; ++i) {
    if (mutex.try_lock()) return std::unique_lock<std::mutex>(mutex, std::adopt_lock);
    PauseCpu();
  }
  return std::unique_lock<std::mutex>(mutex);
}

}  // namespace headrace

#endif  // HEADRACE_CORE_BRIEF_LOCK_H_
