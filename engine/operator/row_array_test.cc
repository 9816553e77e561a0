#include "engine/operator/row_array.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace headrace {
namespace {

TEST(RowArray, AppendsWhatIsMade) {
  for (const size_t before : {0, 1, 7}) {
    for (const size_t count : {0, 1, 2, 1000}) {
      RowArray<uint64_t> array(before, 5);
      size_t calls = 0;
      AppendMade(array, count, [&](size_t i) {
        ++calls;
        return uint64_t{100} + i;
      });
      ASSERT_EQ(array.size(), before + count);
      EXPECT_EQ(calls, count);
      for (size_t i = 0; i < before; ++i) EXPECT_EQ(array[i], 5u);
      for (size_t i = 0; i < count; ++i) EXPECT_EQ(array[before + i], 100 + i);
    }
  }
}

// Of all sizes, those that are kept and those that are not.
TEST(RowMemory, IsAsLargeAsItWasAskedForAndNeverGivenTwice) {
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<void*, size_t>> taken;
    std::set<void*> places;
    for (size_t bytes = 1; bytes < size_t{1} << 19; bytes += bytes / 3 + 1) {
      for (int i = 0; i < 40; ++i) {
        taken.emplace_back(TakeRowMemory(bytes), bytes);
        std::memset(taken.back().first, i, bytes);
        EXPECT_TRUE(places.insert(taken.back().first).second);
      }
    }
    for (const auto& [memory, bytes] : taken) GiveRowMemory(memory, bytes);
  }
}

#if !defined(HEADRACE_SANITIZER) || defined(__SANITIZE_THREAD__)
TEST(RowMemory, IsReused) {
  void* const first = TakeRowMemory(24'000);
  GiveRowMemory(first, 24'000);
  EXPECT_EQ(TakeRowMemory(30'000), first) << "of one class";
  GiveRowMemory(first, 30'000);
}
#endif

// Each thread writes its number into arrays that the next one frees.
TEST(RowMemory, PassesBetweenThreads) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  std::vector<std::atomic<RowArray<int>*>> handed(kThreads);
  std::atomic<int> mistakes{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        auto* const array = new RowArray<int>(static_cast<size_t>(1 + round * 7 % 9000), thread);
        for (const int number : *array) mistakes += number != thread ? 1 : 0;
        delete handed[(thread + 1) % kThreads].exchange(array);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& array : handed) delete array.load();
  EXPECT_EQ(mistakes, 0);
}

}  // namespace
}  // namespace headrace
