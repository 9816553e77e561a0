// `RunInLanes` runs many schedules of real threads, several at a time: beside busy processes each start and each
// wake-up of a thread takes milliseconds, in which other schedules run.
// Threads: called by a test.
#ifndef HEADRACE_ENGINE_TESTING_SCHEDULE_LANES_H_
#define HEADRACE_ENGINE_TESTING_SCHEDULE_LANES_H_

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace headrace {

inline constexpr int kScheduleLanes = 8;

// Calls run(schedule, lane) for schedules 0, 1, … below `count`, those of a lane one after the other, until one fails.
template <typename Run>
void RunInLanes(int count, Run run) {
  std::atomic<int> next{0};
  std::vector<std::thread> lanes;
  for (int lane = 0; lane < kScheduleLanes; ++lane) {
    lanes.emplace_back([&, lane] {
      for (int schedule = next++; schedule < count && !testing::Test::HasFailure(); schedule = next++) {
        run(schedule, lane);
      }
    });
  }
  for (std::thread& lane : lanes) lane.join();
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_TESTING_SCHEDULE_LANES_H_
