#include "core/work_counts.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace headrace {
namespace {

uint64_t NumberOf(const WorkCounts& counts, std::string_view name) {
  for (const WorkCounts::Count& count : counts.counts()) {
    if (count.name == name) return count.number;
  }
  return 0;
}

TEST(WorkCounts, CountsByName) {
  WorkCounts counts;
  const WorkCounts::Scope scope(&counts);
  for (const char* name : {"b", "c", "a", "b"}) WorkCounts::Add(name);
  const std::vector<WorkCounts::Count> found = counts.counts();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(found[1].number, 2u);
  EXPECT_EQ(found[2].name, "c");
}

TEST(WorkCounts, CountsInTheInnermostScopeAlone) {
  WorkCounts outer;
  WorkCounts inner;
  WorkCounts::Add("x");
  {
    const WorkCounts::Scope around(&outer);
    {
      const WorkCounts::Scope scope(&inner);
      WorkCounts::Add("x");
      const WorkCounts::Scope none(nullptr);
      WorkCounts::Add("x");
    }
    for (int i = 0; i < 2; ++i) WorkCounts::Add("x");
  }
  WorkCounts::Add("x");
  EXPECT_EQ(NumberOf(inner, "x"), 1u);
  EXPECT_EQ(NumberOf(outer, "x"), 2u);
}

TEST(WorkCounts, AddsUpWhatThreadsCount) {
  constexpr int kThreads = 4;
  constexpr int kEach = 1000;
  WorkCounts counts;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&counts] {
      const WorkCounts::Scope scope(&counts);
      for (int row = 0; row < kEach; ++row) WorkCounts::Add(row % 2 == 0 ? "even" : "odd");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(NumberOf(counts, "even"), uint64_t{kThreads * kEach / 2});
  EXPECT_EQ(NumberOf(counts, "odd"), uint64_t{kThreads * kEach / 2});
}

}  // namespace
}  // namespace headrace
