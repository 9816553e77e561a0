#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphBuilder Range(int64_t start, int64_t stop, int64_t step, bool shuffle = false) {
  GraphBuilder builder;
  builder.Add("Range", {},
              {{"start", IntValue(start)},
               {"stop", IntValue(stop)},
               {"step", IntValue(step)},
               {"shuffle", BoolValue(shuffle)}});
  return builder;
}

TEST(Range, CountsAsPythonDoes) {
  EXPECT_THAT(RunEveryWay(Range(2, 9, 3)).Ints(), ElementsAre(2, 5, 8));
  EXPECT_THAT(RunEveryWay(Range(5, 0, -2)).Ints(), ElementsAre(5, 3, 1));
  EXPECT_TRUE(RunEveryWay(Range(5, 0, 1)).rows.empty());
}

TEST(Range, ReachesTheEndsOfInt64) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(RunEveryWay(Range(kMin, kMax, kMax)).Ints(), ElementsAre(kMin, -1, kMax - 1));
  EXPECT_THAT(RunEveryWay(Range(kMax, kMin, kMin)).Ints(), ElementsAre(kMax, -1));
}

TEST(Range, ShufflesAnewEachEpoch) {
  const Ran ran = RunEveryWay(Range(0, 50, 1, true));
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
  const std::vector<int64_t> values = ran.Ints();
  EXPECT_EQ(std::set<int64_t>(values.begin(), values.end()).size(), 50u);
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(static_cast<int64_t>(ran.rows[i].id.key), values[i]);
}

TEST(Range, AssignsEveryRowToOneRank) {
  std::multiset<int64_t> seen;
  for (const Ran& rank : RunRanks(Range(0, 11, 1, true), 3)) {
    for (int64_t value : rank.Ints()) seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 11u);
  EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 11u);
}

TEST(Range, RefusesAStepOfZero) { EXPECT_THAT(Refusal(Range(0, 5, 0)), HasSubstr("step is 0")); }

TEST(Range, GivesNothingToRanksWithoutRows) {
  const std::vector<Ran> ranks = RunRanks(Range(0, 3, 1), 5);
  EXPECT_THAT(ranks[2].Ints(), ElementsAre(2));
  EXPECT_TRUE(ranks[3].rows.empty());
  EXPECT_TRUE(ranks[4].rows.empty());
}

}  // namespace
}  // namespace headrace
