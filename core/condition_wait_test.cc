#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace headrace {
namespace {

TEST(ConditionWait, ReturnsWithTheLockOnceItIsNotified) {
  std::mutex mutex;
  std::condition_variable changed;
  int rounds = 0;
  std::thread other([&] {
    std::unique_lock lock(mutex);
    for (int round = 0; round < 1000; ++round) {
      changed.wait(lock, [&] { return rounds == 2 * round + 1; });
      ++rounds;
      changed.notify_one();
    }
  });
  {
    std::unique_lock lock(mutex);
    for (int round = 0; round < 1000; ++round) {
      ++rounds;
      changed.notify_one();
      changed.wait(lock, [&] { return rounds == 2 * round + 2; });
      EXPECT_TRUE(lock.owns_lock());
    }
  }
  other.join();
  EXPECT_EQ(rounds, 2000);
}

}  // namespace
}  // namespace headrace
