// `Eventually` waits until a condition holds that other threads bring about. Use it where a test cannot wait for a
// signal. Threads: any thread.
#ifndef HEADRACE_ENGINE_TESTING_EVENTUALLY_H_
#define HEADRACE_ENGINE_TESTING_EVENTUALLY_H_

#include <chrono>

#include "core/testing/patience.h"
#include "engine/testing/schedule_pause.h"

namespace headrace {

// False: it never held. Looks again often, and leaves the cores to the other threads.
template <typename Condition>
bool Eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    PauseSchedule(40);
  }
  return true;
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_TESTING_EVENTUALLY_H_
