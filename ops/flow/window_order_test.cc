#include "ops/flow/window_order.h"

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
constexpr size_t kAll = std::numeric_limits<size_t>::max();

std::vector<uint64_t> TakeBelow(WindowOrder& order, uint64_t limit) {
  std::vector<uint64_t> positions;
  order.TakeBelow(limit, kAll, positions);
  return positions;
}

void Add(WindowOrder& order, uint64_t position, double key) { order.Add(position, {key}); }

TEST(WindowOrder, GivesWhatNothingToComeCanPrecede) {
  WindowOrder order(3);
  order.Restart(0);
  Add(order, 0, 2.5);
  EXPECT_EQ(TakeBelow(order, 1), std::vector<uint64_t>());
  Add(order, 1, 1.0);
  EXPECT_EQ(TakeBelow(order, 2), std::vector<uint64_t>{1});
  Add(order, 2, 2.25);
  EXPECT_EQ(TakeBelow(order, 3), (std::vector<uint64_t>{2, 0}));
  EXPECT_TRUE(order.empty());
}

TEST(WindowOrder, BreaksTiesByPosition) {
  WindowOrder order(4);
  order.Restart(7);
  for (uint64_t position = 7; position < 10; ++position) {
    Add(order, position, 10.5);
    EXPECT_EQ(TakeBelow(order, position + 1), std::vector<uint64_t>());
  }
  EXPECT_EQ(TakeBelow(order, kEnd), (std::vector<uint64_t>{7, 8, 9}));
}

// By rounding, a key may be `window` more than its position.
TEST(WindowOrder, TakesTheLargestKey) {
  for (const uint64_t window : {1u, 2u, 3u, 100u, 261885u, 261886u, 262142u, 1000000u}) {
    WindowOrder order(window);
    order.Restart(0);
    std::vector<uint64_t> given;
    for (uint64_t position = 0; position < 50; ++position) {
      Add(order, position, static_cast<double>(position + window));
      order.TakeBelow(position + 1, kAll, given);
    }
    order.TakeBelow(kEnd, kAll, given);
    ASSERT_EQ(given.size(), 50u) << window;
    EXPECT_TRUE(std::is_sorted(given.begin(), given.end())) << window;
  }
}

TEST(WindowOrder, ForgetsWhatWasThere) {
  WindowOrder order(5);
  order.Restart(0);
  Add(order, 0, 4.5);
  order.Restart(0);
  EXPECT_EQ(TakeBelow(order, kEnd), std::vector<uint64_t>());
}

TEST(WindowOrder, StopsSoonAfterTheMostAskedFor) {
  WindowOrder order(8);
  order.Restart(0);
  order.Add(0, {3.5, 1.5, 3.25, 4.0});
  std::vector<uint64_t> given;
  order.TakeBelow(kEnd, 1, given);
  EXPECT_EQ(given, std::vector<uint64_t>{1});
  order.TakeBelow(kEnd, 1, given);
  EXPECT_EQ(given, (std::vector<uint64_t>{1, 2, 0}));
  order.TakeBelow(kEnd, 1, given);
  EXPECT_EQ(given, (std::vector<uint64_t>{1, 2, 0, 3}));
}

TEST(WindowOrder, IsThatOfSortedKeys) {
  std::mt19937_64 random(1);
  constexpr int kRuns = 3000;
  for (int run = 0; run < kRuns; ++run) {
    const uint64_t window = run % 50 == 0 ? uint64_t{1} << (20 + run % 20) : 1 + random() % 40;
    const uint64_t start = random() % 3 == 0 ? random() % 1000000 : 0;
    const uint64_t rows = random() % (run % 10 == 0 ? 3000 : 60);
    const uint64_t most = run % 3 == 0 ? WindowOrder::kMostAtOnce : 1 + random() % 5;
    WindowOrder order(window);
    order.Restart(start);
    std::vector<std::pair<double, uint64_t>> keys;
    std::vector<uint64_t> given;
    std::vector<double> added;
    for (uint64_t position = start; position < start + rows; position += added.size()) {
      added.clear();
      while (added.size() < most && position + added.size() < start + rows) {
        const double u = std::uniform_real_distribution<>()(random);
        const uint64_t at = position + added.size();
        added.push_back(static_cast<double>(at) + u * static_cast<double>(window));
        keys.emplace_back(added.back(), at);
      }
      order.Add(position, added);
      order.TakeBelow(position + added.size(), kAll, given);
    }
    while (!order.empty()) order.TakeBelow(kEnd, 1 + random() % 10, given);
    std::sort(keys.begin(), keys.end());
    std::vector<uint64_t> expected;
    for (const auto& [key, position] : keys) expected.push_back(position);
    ASSERT_EQ(given, expected) << "window " << window << ", run " << run;
  }
  std::printf("HEADRACE-COUNT fuzz=%d\n", kRuns);
}

}  // namespace
}  // namespace headrace
