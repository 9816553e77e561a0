#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

GraphBuilder Taken(int64_t rows, int64_t count, bool streamed) {
  GraphBuilder builder;
  uint32_t last = builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  if (streamed) last = builder.Add("shuffle", {last}, {{"window", IntValue(1)}});
  builder.Add("take", {last}, {{"count", IntValue(count)}});
  return builder;
}

class Take : public ::testing::TestWithParam<bool> {};

TEST_P(Take, GivesTheFirstRowsOfEveryEpoch) {
  const Ran ran = RunEveryWay(Taken(6, 4, GetParam()));
  EXPECT_THAT(ran.Ints(0, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(0, 1, 2, 3));
}

TEST_P(Take, OfMoreThanThereIsGivesAll) { EXPECT_THAT(RunEveryWay(Taken(2, 9, GetParam())).Ints(), ElementsAre(0, 1)); }

TEST_P(Take, OfExactlyAllEndsOnce) { EXPECT_THAT(RunEveryWay(Taken(2, 2, GetParam())).Ints(0, 1), ElementsAre(0, 1)); }

TEST_P(Take, OfNoneIsEmpty) { EXPECT_THAT(RunEveryWay(Taken(5, 0, GetParam())).rows, IsEmpty()); }

TEST_P(Take, BelowABatchEndsItsEpoch) {
  GraphBuilder builder = Taken(9, 3, GetParam());
  builder.Add("batch", {static_cast<uint32_t>(builder.raw().nodes_size() - 1)}, {{"size", IntValue(2)}});
  EXPECT_THAT(RunEveryWay(builder).Texts(1), ElementsAre("value=int64 (2,) [0 1]", "value=int64 (1,) [2]"));
}

TEST_P(Take, OfAnEndlessRepeatEnds) {
  GraphBuilder builder = Taken(3, 2, GetParam());
  const uint32_t last = static_cast<uint32_t>(builder.raw().nodes_size() - 1);
  builder.Add("repeat", {last});
  builder.Add("take", {last + 1}, {{"count", IntValue(5)}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_THAT(ran.Ints(0, 0), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(0, 1, 0, 1, 0));
}

INSTANTIATE_TEST_SUITE_P(IndexedAndStreamed, Take, ::testing::Bool());

TEST(Take, OnIndicesComesBeforeSharding) {
  const std::vector<Ran> ranks = RunRanks(Taken(10, 5, false), 2);
  EXPECT_THAT(ranks[0].Ints(), ElementsAre(0, 2, 4));
  EXPECT_THAT(ranks[1].Ints(), ElementsAre(1, 3));
}

TEST(Take, OnRowsIsEachRanksOwn) {
  const std::vector<Ran> ranks = RunRanks(Taken(10, 3, true), 2);
  EXPECT_THAT(ranks[0].Ints(), ElementsAre(0, 2, 4));
  EXPECT_THAT(ranks[1].Ints(), ElementsAre(1, 3, 5));
}

// The error of an unused row is not part of the result.
TEST(Take, DropsErrorsBeyondItsEnd) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(5)}});
  builder.Add("batch", {0}, {{"size", IntValue(2)}});  // 2, 2, 1
  builder.Add("batch", {1}, {{"size", IntValue(2)}, {"drop_remainder", ir::BoolValue(false)}});
  builder.Add("take", {2}, {{"count", IntValue(1)}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_THAT(ran.Texts(1), ElementsAre("value=int64 (2, 2) [0 1 2 3]"));
}

}  // namespace
}  // namespace headrace
