#include "io/files/object_cache/disk_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

namespace headrace::object_cache {
namespace {

TEST(DiskThreads, RunsWhatWasStartedBeforeItEnds) {
  std::atomic<int> ran = 0;
  {
    DiskThreads threads;
    for (int i = 0; i < 1000; ++i) threads.Start([&ran] { ++ran; });
  }
  EXPECT_EQ(ran, 1000);
}

TEST(DiskThreads, RunsTasksThatTasksStart) {
  std::atomic<int> ran = 0;
  std::function<void(int)> next;
  {
    DiskThreads threads;
    next = [&ran, &next, &threads](int left) {
      ++ran;
      if (left > 0) threads.Start([&next, left] { next(left - 1); });
    };
    next(2000);
  }
  EXPECT_EQ(ran, 2001);
}

TEST(DiskThreads, HasFourAtMost) {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  {
    DiskThreads threads;
    for (int i = 0; i < 2000; ++i) {
      threads.Start([&] {
        const std::lock_guard<std::mutex> lock(mutex);
        ids.insert(std::this_thread::get_id());
      });
    }
  }
  EXPECT_LE(ids.size(), DiskThreads::kMost);
  EXPECT_EQ(ids.count(std::this_thread::get_id()), 0u);
}

}  // namespace
}  // namespace headrace::object_cache
