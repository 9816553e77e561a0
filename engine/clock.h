// Monotonic nanoseconds, for counters only: no result depends on them. Safe from any thread.
#ifndef HEADRACE_ENGINE_CLOCK_H_
#define HEADRACE_ENGINE_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace headrace {

inline uint64_t NowNs() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CLOCK_H_
