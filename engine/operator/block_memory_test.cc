#include "engine/operator/block_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "engine/operator/block.h"

namespace headrace {
namespace {

constexpr size_t kBytes = sizeof(Block);

TEST(BlockMemory, IsNeverGivenTwice) {
  std::set<void*> taken;
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(taken.insert(TakeBlockMemory(kBytes)).second);
  for (void* memory : taken) GiveBlockMemory(memory);
}

// Each block holds its taker's number while it is taken.
TEST(BlockMemory, PassesBetweenThreads) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  std::vector<std::atomic<void*>> handed(kThreads);
  std::atomic<int> mistakes{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<void*> mine;
      for (int round = 0; round < kRounds; ++round) {
        for (int i = 0; i < 40; ++i) {
          mine.push_back(TakeBlockMemory(kBytes));
          std::memset(mine.back(), thread + 1, kBytes);
        }
        for (void* memory : mine) {
          const auto* bytes = static_cast<const unsigned char*>(memory);
          if (bytes[0] != thread + 1 || bytes[kBytes - 1] != thread + 1) ++mistakes;
        }
        // Frees what the next thread made, which frees what this one made.
        if (void* const theirs = handed[(thread + 1) % kThreads].exchange(nullptr)) GiveBlockMemory(theirs);
        if (void* const before = handed[thread].exchange(mine.back())) GiveBlockMemory(before);
        mine.pop_back();
        for (void* memory : mine) GiveBlockMemory(memory);
        mine.clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& memory : handed) {
    if (memory != nullptr) GiveBlockMemory(memory);
  }
  EXPECT_EQ(mistakes, 0);
}

#ifndef HEADRACE_SANITIZER
// One thread makes all blocks and another frees them: without an exchange, each would be new.
TEST(BlockMemory, ComesBackFromTheThreadThatFreesIt) {
  constexpr int kRounds = 200;
  constexpr int kBlocks = 100;
  std::barrier turn(2);
  std::vector<void*> made;
  std::thread freeing([&] {
    for (int round = 0; round < kRounds; ++round) {
      turn.arrive_and_wait();
      for (void* memory : made) GiveBlockMemory(memory);
      made.clear();
      turn.arrive_and_wait();
    }
  });
  std::set<void*> seen;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kBlocks; ++i) made.push_back(TakeBlockMemory(kBytes));
    seen.insert(made.begin(), made.end());
    turn.arrive_and_wait();
    turn.arrive_and_wait();
  }
  freeing.join();
  EXPECT_LT(seen.size(), 5u * kBlocks);
}
#endif

}  // namespace
}  // namespace headrace
