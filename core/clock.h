// `NowNs` and its neighbours read clocks in nanoseconds. Use them for statistics only: no result depends on them.
// Threads: any.
#ifndef HEADRACE_CORE_CLOCK_H_
#define HEADRACE_CORE_CLOCK_H_

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

inline uint64_t CpuNs(clockid_t clock) {
  timespec used;
  clock_gettime(clock, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}
// CPU time of this thread, or of the whole process.
inline uint64_t ThreadCpuNs() { return CpuNs(CLOCK_THREAD_CPUTIME_ID); }
inline uint64_t ProcessCpuNs() { return CpuNs(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace headrace

#endif  // HEADRACE_CORE_CLOCK_H_
