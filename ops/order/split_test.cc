#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::HasSubstr;
using ::testing::SizeIs;

GraphBuilder Part(const std::vector<double>& fractions, int64_t part, int64_t rows, bool shuffle = false,
                  int64_t seed = 0) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", BoolValue(shuffle)}});
  builder.Add("rename", {0}, {{"mapping", ir::PairsValue({{"value", "number"}})}});
  builder.Add("split", {1},
              {{"fractions", ir::FloatsValue(fractions)}, {"part", IntValue(part)}, {"seed", IntValue(seed)}});
  return builder;
}

TEST(Split, PutsEveryRowInOnePartInEveryEpoch) {
  for (const bool shuffle : {false, true}) {
    std::multiset<int64_t> seen;
    for (int64_t part = 0; part < 3; ++part) {
      const Ran ran = RunEveryWay(Part({0.5, 0.3, 0.2}, part, 20, shuffle));
      std::vector<int64_t> rows = ran.Ints(0, 0);
      EXPECT_EQ(std::is_sorted(rows.begin(), rows.end()), !shuffle);
      seen.insert(rows.begin(), rows.end());
      const std::vector<int64_t> later = ran.Ints(0, 1);
      EXPECT_EQ(std::set<int64_t>(rows.begin(), rows.end()), std::set<int64_t>(later.begin(), later.end()));
    }
    EXPECT_THAT(seen, SizeIs(20));
    EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 20u);
  }
}

TEST(Split, DoesNotDependOnTheRunsSeed) {
  RunSpec other;
  other.seed = 99;
  EXPECT_EQ(RunEveryWay(Part({0.5, 0.5}, 0, 20)).Ints(), RunEveryWay(Part({0.5, 0.5}, 0, 20), other).Ints());
  EXPECT_NE(RunEveryWay(Part({0.5, 0.5}, 0, 20)).Ints(), RunEveryWay(Part({0.5, 0.5}, 0, 20, false, 1)).Ints());
}

TEST(Split, RoundsBordersHalfUp) {
  EXPECT_THAT(RunEveryWay(Part({0.5, 0.5}, 0, 5)).Ints(), SizeIs(3));
  EXPECT_THAT(RunEveryWay(Part({0.5, 0.5}, 1, 5)).Ints(), SizeIs(2));
  EXPECT_THAT(RunEveryWay(Part({0.1, 0.1, 0.1, 0.7}, 2, 10)).Ints(), SizeIs(1));
  EXPECT_THAT(RunEveryWay(Part({1.0}, 0, 4)).Ints(), SizeIs(4));
}

TEST(Split, RefusesPartsThatAreNone) {
  EXPECT_THAT(Refusal(Part({0.5, 0.4}, 0, 10)), HasSubstr("fractions must sum to 1"));
  EXPECT_THAT(Refusal(Part({1.5, -0.5}, 0, 10)), HasSubstr("fractions"));
  EXPECT_THAT(Refusal(Part({0.5, 0.5}, 2, 10)), HasSubstr("part is 2 of 2"));
  const std::string empty = Refusal(Part({0.9, 0.1}, 0, 3));
  EXPECT_THAT(empty, HasSubstr("part 1 would be empty: 0.1 of 3 rows"));
  EXPECT_THAT(empty, HasSubstr("split[1]"));
  EXPECT_THAT(Refusal(Part({1.0}, 0, 0)), HasSubstr("part 0 would be empty"));
}

TEST(Split, ShardsAPart) {
  std::multiset<int64_t> seen;
  for (const Ran& rank : RunRanks(Part({0.5, 0.5}, 0, 20, true), 3)) {
    for (const int64_t number : rank.Ints()) seen.insert(number);
  }
  const std::vector<int64_t> part = RunEveryWay(Part({0.5, 0.5}, 0, 20)).Ints();
  EXPECT_EQ(seen, std::multiset<int64_t>(part.begin(), part.end()));
}

}  // namespace
}  // namespace headrace
