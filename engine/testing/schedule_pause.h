// `PauseSchedule` pauses schedules that run on real threads. They never yield: beside busy processes each yield costs a
// time slice of milliseconds, and a schedule of hundreds takes seconds.
// Threads: any thread.
#ifndef HEADRACE_ENGINE_TESTING_SCHEDULE_PAUSE_H_
#define HEADRACE_ENGINE_TESTING_SCHEDULE_PAUSE_H_

#include <chrono>
#include <cstdint>
#include <thread>

#include "core/brief_lock.h"

namespace headrace {

// Lasts about half a microsecond a step. Short pauses spin, so that threads on different cores meet at slightly
// different moments; long ones leave the core to other threads.
inline void PauseSchedule(uint64_t steps) {
  constexpr uint64_t kShort = 16;
  constexpr int kSpins = 12;
  if (steps > kShort) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(500 * steps));
    return;
  }
  for (uint64_t i = 0; i < steps * kSpins; ++i) PauseCpu();
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_TESTING_SCHEDULE_PAUSE_H_
