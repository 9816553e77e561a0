#include "engine/exec/timed_mutex.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

TEST(TimedMutex, IsHeldByOneThreadAtATime) {
  TimedMutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 2000; ++turn) {
        const std::lock_guard<TimedMutex> lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 8000);
}

TEST(TimedMutex, ItsOwnerLocksItAgain) {
  TimedMutex mutex;
  mutex.lock();
  EXPECT_TRUE(mutex.try_lock_until(Clock::now()));
  mutex.unlock();
  std::thread([&mutex] { EXPECT_FALSE(mutex.try_lock_until(Clock::now() + std::chrono::milliseconds(1))); }).join();
  mutex.unlock();
  std::thread([&mutex] {
    EXPECT_TRUE(mutex.try_lock_until(Clock::now()));
    mutex.unlock();
  }).join();
}

TEST(TimedMutex, WaitsUntilItIsFree) {
  TimedMutex mutex;
  mutex.lock();
  std::thread other([&mutex] {
    EXPECT_TRUE(mutex.try_lock_until(Clock::now() + std::chrono::seconds(60)));
    mutex.unlock();
  });
  mutex.unlock();
  other.join();
}

}  // namespace
}  // namespace headrace
