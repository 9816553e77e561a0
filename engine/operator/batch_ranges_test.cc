#include "engine/operator/batch_ranges.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <thread>
#include <vector>

namespace headrace {
namespace {

TEST(BatchRanges, AreNumberedFromTheEpoch) {
  BatchRanges ranges(7);
  EXPECT_EQ(ranges.epoch(), 7u);
  EXPECT_FALSE(ranges.Has(7));
  EXPECT_EQ(ranges.Add({3, 5}), 7u);
  EXPECT_EQ(ranges.Add({0, 1}), 8u);
  EXPECT_TRUE(ranges.Has(8));
  EXPECT_FALSE(ranges.Has(9));
  EXPECT_EQ(ranges.At(7), (BatchRange{3, 5}));
  EXPECT_EQ(ranges.At(8), (BatchRange{0, 1}));
}

TEST(BatchRanges, KeepTheirNumbersWhenEarlierOnesAreForgotten) {
  BatchRanges ranges(0);
  for (uint64_t i = 0; i < 5; ++i) ranges.Add({i, i + 1});
  ranges.ForgetBelow(3);
  EXPECT_EQ(ranges.At(3), (BatchRange{3, 4}));
  EXPECT_EQ(ranges.Add({9, 10}), 5u);
  EXPECT_EQ(ranges.At(5), (BatchRange{9, 10}));
  // Those that are not made yet have numbers of their own.
  ranges.ForgetBelow(100);
  EXPECT_EQ(ranges.Add({1, 2}), 6u);
  EXPECT_TRUE(ranges.Has(6));
}

TEST(BatchRanges, EndWithTheLastNumberAsked) {
  constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max() - 1;
  BatchRanges ranges(kLast - 1);
  EXPECT_EQ(ranges.AddUpTo(kLast, {0, 1}), kLast - 1);
  EXPECT_EQ(ranges.AddUpTo(kLast, {1, 2}), kLast);
  EXPECT_EQ(ranges.AddUpTo(kLast, {2, 3}), std::nullopt);
  EXPECT_FALSE(ranges.Has(kLast + 1));
  BatchRanges none(kLast + 1);
  EXPECT_EQ(none.AddUpTo(kLast, {0, 1}), std::nullopt);
}

TEST(BatchRanges, TakeNoMoreRowsThanThereAre) {
  EXPECT_EQ(RowsOfBatches(3, 4, 100), 12u);
  EXPECT_EQ(RowsOfBatches(25, 4, 100), 100u);
  EXPECT_EQ(RowsOfBatches(26, 4, 100), 100u);
  EXPECT_EQ(RowsOfBatches(2, 4, 7), 7u);
  EXPECT_EQ(RowsOfBatches(std::numeric_limits<uint64_t>::max(), 1 << 30, 5), 5u);
  EXPECT_EQ(RowsOfBatches(1, 4, 0), 0u);
}

TEST(BatchRanges, AreAskedForByAnyThread) {
  constexpr uint64_t kEach = 1000;
  BatchRanges ranges(0);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&ranges, thread] {
      for (uint64_t i = 0; i < kEach; ++i) {
        const uint64_t number = ranges.Add({thread, i});
        EXPECT_TRUE(ranges.Has(number));
        EXPECT_EQ(ranges.At(number), (BatchRange{thread, i}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(ranges.Has(4 * kEach));
  EXPECT_TRUE(ranges.Has(4 * kEach - 1));
}

}  // namespace
}  // namespace headrace
