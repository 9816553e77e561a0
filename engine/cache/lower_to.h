// `LowerTo` lowers a limit that only falls.
// Threads: any, at the same time.
#ifndef HEADRACE_ENGINE_CACHE_LOWER_TO_H_
#define HEADRACE_ENGINE_CACHE_LOWER_TO_H_

#include <atomic>
#include <cstdint>

namespace headrace {

// Sets the limit to `to` if it is greater.
inline void LowerTo(std::atomic<int64_t>& limit, int64_t to) {
  int64_t seen = limit.load();
  while (to < seen && !limit.compare_exchange_weak(seen, to)) {
  }
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_LOWER_TO_H_
