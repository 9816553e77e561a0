#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "ir/expression.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Side {
  int64_t rows = 0;
  int64_t group = 1;
  std::vector<int64_t> fails = {};
};

// Columns a, b, …: whole numbers from 0.
GraphBuilder Zipped(const std::vector<Side>& sides) {
  GraphBuilder builder;
  std::vector<uint32_t> inputs;
  for (const Side& side : sides) {
    uint32_t last = builder.Add("Range", {}, {{"stop", IntValue(side.rows)}});
    if (!side.fails.empty()) last = builder.Add("test_fail", {last}, {{"values", ir::IntsValue(side.fails)}});
    inputs.push_back(builder.Add("test_group", {last}, {{"rows", IntValue(side.group)}}));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    inputs[i] = builder.Add("rename", {inputs[i]}, {{"mapping", ir::PairsValue({{"value", name}})}});
  }
  builder.Add("zip", inputs);
  return builder;
}

class Zip : public ::testing::TestWithParam<std::pair<int64_t, int64_t>> {
 protected:
  Side Left(int64_t rows) const { return {rows, GetParam().first}; }
  Side Right(int64_t rows) const { return {rows, GetParam().second}; }
};

TEST_P(Zip, JoinsRowsInOrder) {
  const Ran ran = RunEveryWay(Zipped({Left(5), Right(5)}));
  for (const uint64_t epoch : {0, 1}) {
    EXPECT_THAT(ran.Texts(epoch), ElementsAre("a=0, b=0", "a=1, b=1", "a=2, b=2", "a=3, b=3", "a=4, b=4"));
  }
  EXPECT_EQ(ran.Keys(1)[3], MixKey(3, 3));
}

TEST_P(Zip, EndsWithTheShortest) {
  EXPECT_THAT(RunEveryWay(Zipped({Left(3), Right(8)})).Ints(1, 1), ElementsAre(0, 1, 2));
  EXPECT_THAT(RunEveryWay(Zipped({Left(8), Right(3)})).Ints(0, 1), ElementsAre(0, 1, 2));
  EXPECT_THAT(RunEveryWay(Zipped({Left(4), Right(0)})).rows, IsEmpty());
  EXPECT_THAT(RunEveryWay(Zipped({Left(0), Right(4)})).rows, IsEmpty());
}

TEST_P(Zip, TakesAnyNumberOfInputs) {
  EXPECT_THAT(RunEveryWay(Zipped({Left(6), Right(4), Left(5)})).Texts(1),
              ElementsAre("a=0, b=0, c=0", "a=1, b=1, c=1", "a=2, b=2, c=2", "a=3, b=3, c=3"));
}

TEST_P(Zip, StandsBelowABatch) {
  GraphBuilder builder = Zipped({Left(7), Right(9)});
  builder.Add("batch", {static_cast<uint32_t>(builder.raw().nodes_size() - 1)}, {{"size", IntValue(3)}});
  EXPECT_THAT(RunEveryWay(builder).Texts(1),
              ElementsAre("a=int64 (3,) [0 1 2], b=int64 (3,) [0 1 2]", "a=int64 (3,) [3 4 5], b=int64 (3,) [3 4 5]",
                          "a=int64 (1,) [6], b=int64 (1,) [6]"));
}

TEST_P(Zip, EndsWhenEnoughIsTaken) {
  GraphBuilder builder = Zipped({Left(40), Right(50)});
  builder.Add("take", {static_cast<uint32_t>(builder.raw().nodes_size() - 1)}, {{"count", IntValue(4)}});
  EXPECT_THAT(RunEveryWay(builder).Ints(0, 1), ElementsAre(0, 1, 2, 3));
}

TEST_P(Zip, GivesTheRowsBeforeAnError) {
  Side failing = Right(7);
  failing.fails = {3};
  const Ran ran = RunEveryWay(Zipped({Left(7), failing}));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 1, 2));
  EXPECT_THAT(ran.error.ToString(), HasSubstr("the value 3 is not liked"));
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kRow), "epoch 0, key 3");
}

TEST_P(Zip, GivesTheFirstInputsErrorOfOneRow) {
  Side left = Left(7);
  left.fails = {4, 5};
  Side right = Right(7);
  right.fails = {4};
  const Ran ran = RunEveryWay(Zipped({right, left}));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kLocation), "test.py:2");
}

// The row at which the other input has ended is unused.
TEST_P(Zip, DropsErrorsBeyondTheShortest) {
  Side left = Left(7);
  left.fails = {3, 4};
  const Ran ran = RunEveryWay(Zipped({left, Right(3)}));
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(0, 1, 2));
}

INSTANTIATE_TEST_SUITE_P(Grouped, Zip,
                         ::testing::Values(std::pair(1, 1), std::pair(2, 3), std::pair(3, 2), std::pair(1, 4)));

// Over indices: column a of 10, 11, … and value of 0, 1, …
GraphBuilder Indexed(int64_t rows) {
  GraphBuilder builder;
  builder.Add("Numpy", {}, {{"arrays", ir::ReferenceValue("a")}, {"columns", ir::ColumnsValue(Int64Columns("a"))}});
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  builder.Add("zip", {0, 1});
  return builder;
}

RunSpec FourRows() {
  RunSpec spec;
  spec.bindings.arrays["a"].columns = {{"a", Int64s({10, 11, 12, 13})}};
  return spec;
}

TEST(Zip, OverIndicesGivesTheSame) {
  const Ran ran = RunEveryWay(Indexed(3), FourRows());
  EXPECT_THAT(ran.Texts(1), ElementsAre("a=10, value=0", "a=11, value=1", "a=12, value=2"));
  EXPECT_EQ(ran.Keys(1)[2], MixKey(2, 2));
  EXPECT_EQ(RunEveryWay(Indexed(9), FourRows()).Ints().size(), 4u);
}

TEST(Zip, OverIndicesComesBeforeSharding) {
  const std::vector<Ran> ranks = RunRanks(Indexed(4), 2, FourRows());
  EXPECT_THAT(ranks[0].Texts(), ElementsAre("a=10, value=0", "a=12, value=2"));
  EXPECT_THAT(ranks[1].Texts(), ElementsAre("a=11, value=1", "a=13, value=3"));
}

TEST(Zip, RefusesEqualNames) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(3)}});
  builder.Add("zip", {0, 0});
  EXPECT_THAT(Refusal(builder), HasSubstr("two inputs have a column \"value\"; rename one of them first"));
}

TEST(Zip, EndsWithTheFiniteInput) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(2)}});
  builder.Add("repeat", {0});
  builder.Add("rename", {1}, {{"mapping", ir::PairsValue({{"value", "again"}})}});
  builder.Add("Range", {}, {{"stop", IntValue(5)}});
  builder.Add("zip", {2, 3});
  const Ran ran = RunEveryWay(builder);
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(ran.Ints(1, 1), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Zip, WithShardsNeedsInputsShardedAlike) {
  GraphBuilder alike;
  alike.Add("Range", {}, {{"stop", IntValue(5)}});
  alike.Add("rename", {0}, {{"mapping", ir::PairsValue({{"value", "other"}})}});
  alike.Add("zip", {0, 1});
  EXPECT_THAT(RunRanks(alike, 2)[1].Texts(1), ElementsAre("value=1, other=1", "value=3, other=3"));
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(9)}});
  builder.Add("filter", {0},
              {{"predicate", ir::ExpressionValue(ir::CallExpression("<", ir::ColumnExpression("value"),
                                                                    ir::LiteralExpression(IntValue(5))))}});
  builder.Add("rename", {1}, {{"mapping", ir::PairsValue({{"value", "small"}})}});
  builder.Add("zip", {0, 2});
  RunSpec spec;
  spec.shard.world = 2;
  EXPECT_THAT(Refusal(builder, spec), HasSubstr("filter[1] changes which row stands where"));
}

}  // namespace
}  // namespace headrace
