// Nanoseconds, for counters only: no result depends on them. Safe from any thread.
#ifndef HEADRACE_ENGINE_CLOCK_H_
#define HEADRACE_ENGINE_CLOCK_H_

#include <time.h>

#include <chrono>
#include <cstdint>

namespace headrace {

// Monotonic.
inline uint64_t NowNs() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

// That this thread worked.
inline uint64_t ThreadCpuNs() {
  timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CLOCK_H_
