#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Part {
  int64_t start;
  int64_t stop;
};

// Ranges in messages of `group` rows; 0: over indices.
GraphBuilder Concatenated(const std::vector<Part>& parts, int64_t group, std::vector<int64_t> fails = {}) {
  GraphBuilder builder;
  std::vector<uint32_t> inputs;
  for (const Part& part : parts) {
    uint32_t last = builder.Add("Range", {}, {{"start", IntValue(part.start)}, {"stop", IntValue(part.stop)}});
    if (!fails.empty()) last = builder.Add("test_fail", {last}, {{"values", ir::IntsValue(fails)}});
    if (group > 0) last = builder.Add("test_group", {last}, {{"rows", IntValue(group)}});
    inputs.push_back(last);
  }
  builder.Add("concat", inputs);
  return builder;
}

uint32_t LastOf(const GraphBuilder& builder) { return static_cast<uint32_t>(builder.raw().nodes_size() - 1); }

class Concat : public ::testing::TestWithParam<int64_t> {};

TEST_P(Concat, GivesOneInputAfterTheOther) {
  const Ran ran = RunEveryWay(Concatenated({{0, 4}, {10, 15}, {20, 21}}, GetParam()));
  for (const uint64_t epoch : {0, 1}) EXPECT_THAT(ran.Ints(0, epoch), ElementsAre(0, 1, 2, 3, 10, 11, 12, 13, 14, 20));
  EXPECT_EQ(ran.Keys(1)[0], MixKey(0, 0));
  EXPECT_EQ(ran.Keys(1)[5], MixKey(1, 1));
}

TEST_P(Concat, TakesEmptyInputs) {
  EXPECT_THAT(RunEveryWay(Concatenated({{0, 0}, {5, 7}, {0, 0}}, GetParam())).Ints(0, 1), ElementsAre(5, 6));
  EXPECT_THAT(RunEveryWay(Concatenated({{0, 0}, {0, 0}}, GetParam())).rows, IsEmpty());
}

TEST_P(Concat, TellsRowsOfOneSourceApart) {
  const Ran ran = RunEveryWay(Concatenated({{0, 2}, {0, 2}}, GetParam()));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 1, 0, 1));
  EXPECT_NE(ran.Keys()[0], ran.Keys()[2]);
}

TEST_P(Concat, LetsBatchesCrossInputs) {
  GraphBuilder builder = Concatenated({{0, 4}, {10, 14}}, GetParam());
  builder.Add("batch", {LastOf(builder)}, {{"size", IntValue(3)}});
  EXPECT_THAT(RunEveryWay(builder).Texts(1),
              ElementsAre("value=int64 (3,) [0 1 2]", "value=int64 (3,) [3 10 11]", "value=int64 (2,) [12 13]"));
}

TEST_P(Concat, EndsWhenEnoughIsTaken) {
  for (const int64_t count : {2, 5}) {
    GraphBuilder builder = Concatenated({{0, 4}, {10, 90}, {100, 200}}, GetParam());
    builder.Add("take", {LastOf(builder)}, {{"count", IntValue(count)}});
    EXPECT_EQ(RunEveryWay(builder).Ints(0, 1).size(), static_cast<size_t>(count));
  }
}

TEST_P(Concat, MayBeShuffledAndRepeated) {
  GraphBuilder builder = Concatenated({{0, 4}, {10, 14}}, GetParam());
  builder.Add("shuffle", {LastOf(builder)}, {{"window", IntValue(4)}});
  builder.Add("repeat", {LastOf(builder)}, {{"count", IntValue(2)}});
  EXPECT_EQ(RunEveryWay(builder).Ints(0, 1).size(), 16u);
}

TEST_P(Concat, HoldsOtherStreams) {
  GraphBuilder builder = Concatenated({{0, 4}, {10, 14}}, GetParam());
  const uint32_t shuffled = builder.Add("shuffle", {LastOf(builder)}, {{"window", IntValue(3)}});
  const uint32_t taken = builder.Add("take", {shuffled}, {{"count", IntValue(5)}});
  builder.Add("concat", {taken, shuffled});
  EXPECT_EQ(RunEveryWay(builder).Ints(0, 1).size(), 13u);
}

INSTANTIATE_TEST_SUITE_P(IndexedAndGrouped, Concat, ::testing::Values(0, 1, 3));

TEST(Concat, GivesTheRowsBeforeAnError) {
  for (const int64_t group : {1, 3}) {
    const Ran ran = RunEveryWay(Concatenated({{0, 4}, {10, 15}}, group, {12, 14}));
    EXPECT_THAT(ran.Ints(), ElementsAre(0, 1, 2, 3, 10, 11));
    EXPECT_THAT(ran.error.ToString(), HasSubstr("the value 12 is not liked"));
  }
}

TEST(Concat, OverIndicesComesBeforeSharding) {
  const std::vector<Ran> ranks = RunRanks(Concatenated({{0, 3}, {10, 13}}, 0), 2);
  EXPECT_THAT(ranks[0].Ints(), ElementsAre(0, 2, 11));
  EXPECT_THAT(ranks[1].Ints(), ElementsAre(1, 10, 12));
}

GraphBuilder OfArrays(const ir::Schema& left, const ir::Schema& right, int64_t group) {
  GraphBuilder builder;
  uint32_t a = builder.Add("Numpy", {}, {{"arrays", ir::ReferenceValue("l")}, {"columns", ir::ColumnsValue(left)}});
  uint32_t b = builder.Add("Numpy", {}, {{"arrays", ir::ReferenceValue("r")}, {"columns", ir::ColumnsValue(right)}});
  if (group > 0) a = builder.Add("test_group", {a}, {{"rows", IntValue(group)}});
  if (group > 0) b = builder.Add("test_group", {b}, {{"rows", IntValue(group)}});
  builder.Add("concat", {a, b});
  return builder;
}

TEST(Concat, PutsColumnsIntoTheFirstInputsOrder) {
  RunSpec spec;
  spec.bindings.arrays["l"].columns = {{"a", Int64s({1})}, {"b", Int64s({2})}};
  spec.bindings.arrays["r"].columns = {{"a", Int64s({3, 5})}, {"b", Int64s({4, 6})}};
  for (const int64_t group : {0, 2}) {
    EXPECT_THAT(RunEveryWay(OfArrays(Int64Columns("ab"), Int64Columns("ba"), group), spec).Texts(1),
                ElementsAre("a=1, b=2", "a=3, b=4", "a=5, b=6"));
  }
}

TEST(Concat, LetsShapesDiffer) {
  const auto columns = [](Shape shape) { return ir::Schema{{{"x", ir::ColumnType::Of(DType::kInt64, shape)}}}; };
  const GraphBuilder builder = OfArrays(columns({2}), columns({3}), 0);
  RunSpec spec;
  spec.bindings.arrays["l"].columns = {{"x", Int64Tensor({1, 2}, {1, 2})}};
  spec.bindings.arrays["r"].columns = {{"x", Int64Tensor({1, 3}, {3, 4, 5})}};
  EXPECT_THAT(RunEveryWay(builder, spec).Texts(), ElementsAre("x=int64 (2,) [1 2]", "x=int64 (3,) [3 4 5]"));
  const auto pipeline = Pipeline::Make(*builder.Build(), OptionsOf(spec));
  EXPECT_EQ(ir::TypeName((*pipeline)->schema().columns[0].type), "int64 (None,)");
}

TEST(Concat, RefusesOtherColumnsAndTypes) {
  EXPECT_THAT(Refusal(OfArrays(Int64Columns("ab"), Int64Columns("ac"), 0)),
              HasSubstr("the columns differ: a, b in the first input and a, c in input 1"));
  EXPECT_THAT(Refusal(OfArrays(Int64Columns("ab"), Int64Columns("abc"), 0)), HasSubstr("the columns differ"));
  const ir::Schema floats{{{"a", ir::ColumnType::Of(DType::kFloat32, {})}}};
  EXPECT_THAT(Refusal(OfArrays(Int64Columns("a"), floats, 0)),
              HasSubstr("column \"a\" is int64 () in the first input and float32 () in input 1"));
}

}  // namespace
}  // namespace headrace
