#include "ops/window_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace headrace {
namespace {

constexpr uint64_t kEnd = std::numeric_limits<uint64_t>::max();

std::vector<uint64_t> TakeAll(WindowOrder& order) {
  std::vector<uint64_t> positions;
  uint64_t position = 0;
  while (order.Next(position)) positions.push_back(position);
  return positions;
}

TEST(WindowOrder, GivesWhatNothingToComeCanPrecede) {
  WindowOrder order(3);
  order.Restart(0);
  order.Add(0, 2.5);
  order.SetLimit(1);
  EXPECT_EQ(TakeAll(order), std::vector<uint64_t>());
  order.Add(1, 1.0);
  order.SetLimit(2);
  EXPECT_EQ(TakeAll(order), std::vector<uint64_t>{1});
  order.Add(2, 2.25);
  order.SetLimit(3);
  EXPECT_EQ(TakeAll(order), (std::vector<uint64_t>{2, 0}));
  EXPECT_TRUE(order.empty());
}

TEST(WindowOrder, BreaksTiesByPosition) {
  WindowOrder order(4);
  order.Restart(7);
  for (uint64_t position = 7; position < 10; ++position) {
    order.Add(position, 10.5);
    order.SetLimit(position + 1);
    EXPECT_EQ(TakeAll(order), std::vector<uint64_t>());
  }
  order.SetLimit(kEnd);
  EXPECT_EQ(TakeAll(order), (std::vector<uint64_t>{7, 8, 9}));
}

// Keys may come to window more than the position by rounding.
TEST(WindowOrder, TakesTheLargestKey) {
  for (const uint64_t window : {1u, 2u, 3u, 100u, 262141u, 262142u, 1000000u}) {
    WindowOrder order(window);
    order.Restart(0);
    std::vector<uint64_t> given;
    for (uint64_t position = 0; position < 50; ++position) {
      order.Add(position, static_cast<double>(position + window));
      order.SetLimit(position + 1);
      for (const uint64_t next : TakeAll(order)) given.push_back(next);
    }
    order.SetLimit(kEnd);
    for (const uint64_t next : TakeAll(order)) given.push_back(next);
    ASSERT_EQ(given.size(), 50u) << window;
    EXPECT_TRUE(std::is_sorted(given.begin(), given.end())) << window;
  }
}

TEST(WindowOrder, ForgetsWhatWasThere) {
  WindowOrder order(5);
  order.Restart(0);
  order.Add(0, 4.5);
  order.Restart(0);
  order.SetLimit(kEnd);
  EXPECT_EQ(TakeAll(order), std::vector<uint64_t>());
}

TEST(WindowOrder, IsThatOfSortedKeys) {
  std::mt19937_64 random(1);
  constexpr int kRuns = 3000;
  for (int run = 0; run < kRuns; ++run) {
    const uint64_t window = run % 50 == 0 ? uint64_t{1} << (20 + run % 20) : 1 + random() % 40;
    const uint64_t start = random() % 3 == 0 ? random() % 1000000 : 0;
    const uint64_t rows = random() % 60;
    WindowOrder order(window);
    order.Restart(start);
    std::vector<std::pair<double, uint64_t>> keys;
    std::vector<uint64_t> given;
    for (uint64_t position = start; position < start + rows; ++position) {
      const double u = std::uniform_real_distribution<>()(random);
      const double key = static_cast<double>(position) + u * static_cast<double>(window);
      keys.emplace_back(key, position);
      order.Add(position, key);
      order.SetLimit(position + 1);
      for (const uint64_t next : TakeAll(order)) given.push_back(next);
    }
    order.SetLimit(kEnd);
    for (const uint64_t next : TakeAll(order)) given.push_back(next);
    std::sort(keys.begin(), keys.end());
    std::vector<uint64_t> expected;
    for (const auto& [key, position] : keys) expected.push_back(position);
    ASSERT_EQ(given, expected) << "window " << window << ", run " << run;
  }
  std::printf("HEADRACE-COUNT fuzz=%d\n", kRuns);
}

}  // namespace
}  // namespace headrace
