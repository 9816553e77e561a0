#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// group 0: over indices.
GraphBuilder Skipped(int64_t rows, int64_t count, int64_t group) {
  GraphBuilder builder;
  uint32_t last = builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  if (group > 0) last = builder.Add("test_group", {last}, {{"rows", IntValue(group)}});
  builder.Add("skip", {last}, {{"count", IntValue(count)}});
  return builder;
}

class Skip : public ::testing::TestWithParam<int64_t> {};

TEST_P(Skip, LeavesOutTheFirstRowsOfEveryEpoch) {
  const Ran ran = RunEveryWay(Skipped(7, 4, GetParam()));
  EXPECT_THAT(ran.Ints(0, 0), ElementsAre(4, 5, 6));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(4, 5, 6));
  EXPECT_THAT(ran.Keys(1), ElementsAre(4, 5, 6));
}

TEST_P(Skip, OfMoreThanThereIsLeavesNothing) { EXPECT_THAT(RunEveryWay(Skipped(3, 9, GetParam())).rows, IsEmpty()); }

TEST_P(Skip, OfNoneLeavesAll) { EXPECT_THAT(RunEveryWay(Skipped(3, 0, GetParam())).Ints(), ElementsAre(0, 1, 2)); }

TEST_P(Skip, StandsWithTakeAndBatch) {
  GraphBuilder builder = Skipped(12, 3, GetParam());
  const uint32_t last = static_cast<uint32_t>(builder.raw().nodes_size() - 1);
  builder.Add("take", {last}, {{"count", IntValue(5)}});
  builder.Add("batch", {last + 1}, {{"size", IntValue(2)}});
  EXPECT_THAT(RunEveryWay(builder).Texts(1),
              ElementsAre("value=int64 (2,) [3 4]", "value=int64 (2,) [5 6]", "value=int64 (1,) [7]"));
}

INSTANTIATE_TEST_SUITE_P(IndexedAndGrouped, Skip, ::testing::Values(0, 1, 2, 5));

TEST(Skip, OnIndicesComesBeforeSharding) {
  const std::vector<Ran> ranks = RunRanks(Skipped(8, 3, 0), 2);
  EXPECT_THAT(ranks[0].Ints(), ElementsAre(3, 5, 7));
  EXPECT_THAT(ranks[1].Ints(), ElementsAre(4, 6));
}

TEST(Skip, PassesErrorsOn) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(6)}});
  builder.Add("test_fail", {0}, {{"values", ir::IntsValue({3})}});
  builder.Add("test_group", {1}, {{"rows", IntValue(2)}});
  builder.Add("skip", {2}, {{"count", IntValue(1)}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_THAT(ran.Ints(), ElementsAre(1, 2));
  EXPECT_THAT(ran.error.ToString(), HasSubstr("the value 3 is not liked"));
}

TEST(Skip, RefusesANegativeCount) { EXPECT_THAT(Refusal(Skipped(3, -1, 0)), HasSubstr("count is -1")); }

TEST(Skip, KnowsItsRows) {
  const auto pipeline = Pipeline::Make(*Skipped(7, 4, 2).Build(), OptionsOf({}));
  ASSERT_TRUE(pipeline.ok());
  EXPECT_EQ((*pipeline)->plan().root().properties.cardinality.rows, 3u);
}

}  // namespace
}  // namespace headrace
