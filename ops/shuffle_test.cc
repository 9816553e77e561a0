#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;

GraphBuilder Shuffled(int64_t rows, int64_t window) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  builder.Add("shuffle", {0}, {{"window", IntValue(window)}});
  return builder;
}

std::vector<int64_t> Sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Shuffle, GivesEveryRowOnceInAnotherOrderEachEpoch) {
  const Ran ran = RunEveryWay(Shuffled(100, 20));
  std::vector<int64_t> all(100);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(Sorted(ran.Ints(0, 0)), all);
  EXPECT_EQ(Sorted(ran.Ints(0, 1)), all);
  EXPECT_NE(ran.Ints(0, 0), all);
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
}

TEST(Shuffle, MovesNoRowFurtherThanTheWindow) {
  const std::vector<int64_t> values = RunEveryWay(Shuffled(200, 10)).Ints();
  for (size_t i = 0; i < values.size(); ++i) EXPECT_LE(std::abs(values[i] - static_cast<int64_t>(i)), 10);
}

TEST(Shuffle, OfOneRowKeepsTheOrder) {
  const std::vector<int64_t> values = RunEveryWay(Shuffled(20, 1)).Ints();
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
}

TEST(Shuffle, DependsOnTheSeed) {
  RunSpec other;
  other.seed = 8;
  EXPECT_NE(RunEveryWay(Shuffled(50, 50)).Ints(), RunEveryWay(Shuffled(50, 50), other).Ints());
}

// A restart reads no more than the window again.
TEST(Shuffle, ResumesAtMostAWindowBack) {
  const Ran ran = RunEveryWay(Shuffled(300, 25));
  for (size_t i = 0; i < 300; ++i) {
    const std::vector<uint64_t>& stamps = ran.rows[i].after.stamps;
    ASSERT_EQ(stamps.size(), 4u);
    EXPECT_EQ(stamps[3], i + 1) << "rows given";
    EXPECT_GE(stamps[2] + 25, i + 1) << "first position read again";
  }
}

TEST(Shuffle, MixesRowsOfAFilteredStreamBelowABatch) {
  GraphBuilder builder = Shuffled(60, 16);
  builder.Add("batch", {1}, {{"size", IntValue(7)}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_EQ(ran.Texts(0).size(), 9u);
}

TEST(Shuffle, OfNothingIsNothing) { EXPECT_TRUE(RunEveryWay(Shuffled(0, 5)).rows.empty()); }

}  // namespace
}  // namespace headrace
