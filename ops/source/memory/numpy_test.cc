#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

GraphBuilder SourceNumpy(const ir::Schema& columns, bool shuffle = false) {
  GraphBuilder builder;
  builder.Add("Numpy", {},
              {{"arrays", ir::ReferenceValue("data")},
               {"columns", ir::ColumnsValue(columns)},
               {"shuffle", ir::BoolValue(shuffle)}});
  return builder;
}

ir::Schema Vectors(int64_t length) { return {{{"x", ir::ColumnType::Of(DType::kInt64, {length})}}}; }

RunSpec WithNumpy(std::vector<std::pair<std::string, Tensor>> columns) {
  RunSpec spec;
  spec.bindings.arrays["data"].columns = std::move(columns);
  return spec;
}

TEST(Numpy, GivesRowsAlongTheFirstAxis) {
  const Ran ran =
      RunEveryWay(SourceNumpy({{{"x", ir::ColumnType::Of(DType::kInt64, {2})}, Int64Columns("y").columns[0]}}),
                  WithNumpy({{"x", Int64Tensor({3, 2}, {1, 2, 3, 4, 5, 6})}, {"y", Int64s({7, 8, 9})}}));
  EXPECT_THAT(ran.Texts(1),
              ElementsAre("x=int64 (2,) [1 2], y=7", "x=int64 (2,) [3 4], y=8", "x=int64 (2,) [5 6], y=9"));
  EXPECT_THAT(ran.Keys(1), ElementsAre(0, 1, 2));
}

TEST(Numpy, GivesViewsThatKeepTheArrayAlive) {
  Ran ran;
  const uint8_t* memory = nullptr;
  {
    const Tensor array = Int64s({1, 2, 3});
    memory = array.raw();
    ran = *RunOnce(*SourceNumpy(Int64Columns("x")).Build(), OptionsOf(WithNumpy({{"x", array}})));
  }
  EXPECT_EQ(ran.rows[2].columns[0].raw(), memory + 16);
  EXPECT_EQ(ran.rows[2].columns[0].value<int64_t>(), 3);
}

TEST(Numpy, CountsARowForWhatItIs) {
  // Were each row counted as the whole array, a window of rows would not fit the budget.
  const Tensor array = Int64Tensor({64, 1024}, std::vector<int64_t>(64 * 1024, 5));
  PipelineOptions options = OptionsOf(WithNumpy({{"x", array}}));
  options.pull = false;
  auto pipeline = Pipeline::Make(*SourceNumpy(Vectors(1024)).Build(), options);
  ASSERT_TRUE(pipeline.ok());
  ResultRow row;
  ASSERT_TRUE((*pipeline)->Next(std::chrono::seconds(10), row).ok());
  EXPECT_EQ((*pipeline)->report().stages[0].largest_bytes, static_cast<int64_t>(sizeof(Block)));
}

TEST(Numpy, TakesStrings) {
  const ir::Schema columns{{{"s", ir::ColumnType::Of(DType::kString, {})}}};
  EXPECT_THAT(RunEveryWay(SourceNumpy(columns), WithNumpy({{"s", Strings({"a", "", "ccc"})}})).Texts(),
              ElementsAre("s='a'", "s=''", "s='ccc'"));
}

TEST(Numpy, TakesViewsWithGaps) {
  const Tensor every_second_column = Int64Tensor({2, 3}, {1, 2, 3, 4, 5, 6}).Slice(1, 1, 2);
  EXPECT_THAT(RunEveryWay(SourceNumpy(Vectors(2)), WithNumpy({{"x", every_second_column}})).Texts(),
              ElementsAre("x=int64 (2,) [2 3]", "x=int64 (2,) [5 6]"));
}

TEST(Numpy, OfNoRowsIsEmpty) {
  EXPECT_THAT(RunEveryWay(SourceNumpy(Int64Columns("x"), true), WithNumpy({{"x", Int64s({})}})).rows, IsEmpty());
}

TEST(Numpy, ShufflesAndShards) {
  std::vector<int64_t> values(30);
  for (int64_t i = 0; i < 30; ++i) values[i] = i;
  const RunSpec spec = WithNumpy({{"x", Int64s(values)}});
  const Ran ran = RunEveryWay(SourceNumpy(Int64Columns("x"), true), spec);
  EXPECT_THAT(ran.Ints(0, 1), UnorderedElementsAreArray(values));
  EXPECT_NE(ran.Ints(0, 1), values);
  const std::vector<uint64_t> keys = ran.Keys(1);
  EXPECT_EQ(std::vector<int64_t>(keys.begin(), keys.end()), ran.Ints(0, 1));
  const std::vector<Ran> ranks = RunRanks(SourceNumpy(Int64Columns("x"), true), 3, spec);
  EXPECT_EQ(ranks[1].Ints(0, 1)[2], ran.Ints(0, 1)[1 + 2 * 3]);
}

TEST(Numpy, TellsWhenTheDataChanged) {
  const auto hash = [](std::vector<int64_t> values) {
    return RunEveryWay(SourceNumpy(Int64Columns("x")), WithNumpy({{"x", Int64s(values)}})).fingerprints.at(0);
  };
  EXPECT_EQ(hash({1, 2, 3}).count, 3u);
  EXPECT_EQ(hash({1, 2, 3}).hash, hash({1, 2, 3}).hash);
  EXPECT_NE(hash({1, 2, 3}).hash, hash({1, 2, 4}).hash);
}

TEST(Numpy, NamesWhatDoesNotFit) {
  EXPECT_THAT(Refusal(SourceNumpy(Int64Columns("x"))), HasSubstr("the arrays data are not here"));
  EXPECT_THAT(Refusal(SourceNumpy(Int64Columns("x")), WithNumpy({{"y", Int64s({1})}})),
              HasSubstr("the arrays given have no column \"x\" (columns: y)"));
  EXPECT_THAT(Refusal(SourceNumpy(Int64Columns("xy")), WithNumpy({{"x", Int64s({1, 2})}, {"y", Int64s({1})}})),
              HasSubstr("columns \"x\" and \"y\" have 2 and 1 rows"));
  EXPECT_THAT(Refusal(SourceNumpy(Vectors(3)), WithNumpy({{"x", Int64Tensor({2, 2}, {1, 2, 3, 4})}})),
              HasSubstr("column \"x\" has rows of int64 (2,); the graph was built for int64 (3,)"));
  EXPECT_THAT(Refusal(SourceNumpy(Int64Columns("x")), WithNumpy({{"x", *Tensor::Scalar<int64_t>(3)}})),
              HasSubstr("an array needs a first axis"));
  EXPECT_THAT(Refusal(SourceNumpy({})), HasSubstr("columns is empty"));
}

}  // namespace
}  // namespace headrace
