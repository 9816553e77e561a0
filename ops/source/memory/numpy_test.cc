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

// Column "x" over the numbers, with strides in numbers.
RunSpec WithStrided(const Tensor& numbers, const Shape& shape, Shape strides, int64_t first) {
  for (int64_t& stride : strides) stride *= static_cast<int64_t>(sizeof(int64_t));
  RunSpec spec = WithNumpy({});
  spec.bindings.arrays["data"].strided.emplace(
      "x", StridedArray(DType::kInt64, shape, strides, numbers.buffer(), numbers.data<int64_t>() + first));
  return spec;
}

TEST(Numpy, TakesArraysOfAnyStrides) {
  const Tensor numbers = Int64s({0, 1, 2, 3, 4, 5});
  EXPECT_THAT(RunEveryWay(SourceNumpy(Vectors(2)), WithStrided(numbers, {4, 2}, {1, 2}, 0)).Texts(),
              ElementsAre("x=int64 (2,) [0 2]", "x=int64 (2,) [1 3]", "x=int64 (2,) [2 4]", "x=int64 (2,) [3 5]"));
  EXPECT_THAT(RunEveryWay(SourceNumpy(Vectors(2)), WithStrided(numbers, {3, 2}, {-2, 1}, 4)).Texts(),
              ElementsAre("x=int64 (2,) [4 5]", "x=int64 (2,) [2 3]", "x=int64 (2,) [0 1]"));
  EXPECT_THAT(RunEveryWay(SourceNumpy(Int64Columns("x")), WithStrided(numbers, {3}, {0}, 5)).Ints(),
              ElementsAre(5, 5, 5));
  EXPECT_THAT(RunEveryWay(SourceNumpy(Vectors(0)), WithStrided(numbers, {2, 0}, {1, 1}, 0)).Texts(),
              ElementsAre("x=int64 (0,) []", "x=int64 (0,) []"));
  EXPECT_THAT(Refusal(SourceNumpy(Vectors(3)), WithStrided(numbers, {3, 2}, {2, 1}, 0)),
              HasSubstr("column \"x\" has rows of int64 (2,); the graph was built for int64 (3,)"));
}

TEST(Numpy, GivesViewsOfRowsThatAreRowMajor) {
  const Tensor numbers = Int64s({0, 1, 2, 3, 4, 5});
  const Ran ran = *RunOnce(*SourceNumpy(Vectors(3)).Build(), OptionsOf(WithStrided(numbers, {4, 3}, {1, 1}, 0)));
  EXPECT_EQ(ran.rows[2].columns[0].raw(), numbers.raw() + 16);
}

TEST(Numpy, HasTheFingerprintOfTheCopy) {
  // Larger than what is hashed whole.
  constexpr int64_t kRows = 700, kLength = 300;
  std::vector<int64_t> series(kRows + kLength - 1), copy;
  for (size_t i = 0; i < series.size(); ++i) series[i] = static_cast<int64_t>(i * i);
  for (int64_t row = 0; row < kRows; ++row) copy.insert(copy.end(), &series[row], &series[row] + kLength);
  for (const int64_t rows : {int64_t{5}, kRows}) {
    const auto whole = absl::MakeConstSpan(copy).subspan(0, static_cast<size_t>(rows * kLength));
    const RunSpec copied = WithNumpy({{"x", Int64Tensor({rows, kLength}, {whole.begin(), whole.end()})}});
    const RunSpec strided = WithStrided(Int64s(series), {rows, kLength}, {1, 1}, 0);
    const auto print = [](const RunSpec& spec) {
      return RunOnce(*SourceNumpy(Vectors(kLength)).Build(), OptionsOf(spec))->fingerprints.at(0);
    };
    EXPECT_EQ(print(strided).hash, print(copied).hash);
    EXPECT_EQ(print(strided).count, print(copied).count);
  }
}

// Column "x" of values, cut into rows.
RunSpec WithRagged(Tensor values, const std::vector<int64_t>& splits) {
  RunSpec spec = WithNumpy({{"x", std::move(values)}});
  spec.bindings.arrays["data"].splits["x"] = Int64s(splits);
  return spec;
}

ir::Schema RaggedColumn(DType dtype, Shape further = {}) {
  Shape shape = std::move(further);
  shape.insert(shape.begin(), ir::kUnknownDim);
  return {{{"x", ir::ColumnType::Of(dtype, shape)}}};
}

TEST(Numpy, CutsRowsAtSplits) {
  const Tensor values = Int64Tensor({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const GraphBuilder source = SourceNumpy(RaggedColumn(DType::kInt64, {2}));
  EXPECT_THAT(RunEveryWay(source, WithRagged(values, {0, 3, 3, 4})).Texts(1),
              ElementsAre("x=int64 (3, 2) [1 2 3 4 5 6]", "x=int64 (0, 2) []", "x=int64 (1, 2) [7 8]"));
  EXPECT_THAT(RunEveryWay(source, WithRagged(values.Slice(0, 0, 0), {0, 0})).Texts(), ElementsAre("x=int64 (0, 2) []"));
  EXPECT_THAT(RunEveryWay(source, WithRagged(values.Slice(0, 0, 0), {0})).rows, IsEmpty());
}

TEST(Numpy, CutsTextsAtSplits) {
  const Ran ran =
      RunEveryWay(SourceNumpy(RaggedColumn(DType::kString)), WithRagged(Strings({"a", "", "ccc", "d"}), {0, 0, 2, 4}));
  EXPECT_THAT(ran.Texts(), ElementsAre("x=string (0,) []", "x=string (2,) ['a' '']", "x=string (2,) ['ccc' 'd']"));
}

TEST(Numpy, GivesViewsOfRaggedValues) {
  const Tensor values = Int64s({1, 2, 3, 4});
  const Ran ran = *RunOnce(*SourceNumpy(RaggedColumn(DType::kInt64)).Build(), OptionsOf(WithRagged(values, {0, 1, 4})));
  EXPECT_EQ(ran.rows[1].columns[0].raw(), values.raw() + 8);
}

TEST(Numpy, CutsStridedValuesAtSplits) {
  RunSpec spec = WithStrided(Int64s({0, 1, 2, 3, 4, 5}), {4, 2}, {-1, 2}, 3);
  spec.bindings.arrays["data"].splits["x"] = Int64s({0, 1, 1, 4});
  EXPECT_THAT(RunEveryWay(SourceNumpy(RaggedColumn(DType::kInt64, {2})), spec).Texts(),
              ElementsAre("x=int64 (1, 2) [3 5]", "x=int64 (0, 2) []", "x=int64 (3, 2) [2 4 1 3 0 2]"));
}

TEST(Numpy, ShufflesRaggedRowsAsOthers) {
  std::vector<int64_t> values, splits = {0};
  for (int64_t i = 0; i < 30; ++i) {
    values.insert(values.end(), static_cast<size_t>(i % 4), i);
    splits.push_back(static_cast<int64_t>(values.size()));
  }
  const RunSpec spec = WithRagged(Int64s(values), splits);
  const Ran plain = RunEveryWay(SourceNumpy(RaggedColumn(DType::kInt64)), spec);
  const Ran ran = RunEveryWay(SourceNumpy(RaggedColumn(DType::kInt64), true), spec);
  EXPECT_THAT(ran.Texts(1), UnorderedElementsAreArray(plain.Texts(1)));
  EXPECT_NE(ran.Texts(1), plain.Texts(1));
}

TEST(Numpy, TellsWhenSplitsChanged) {
  const auto hash = [](const std::vector<int64_t>& splits) {
    return RunEveryWay(SourceNumpy(RaggedColumn(DType::kInt64)), WithRagged(Int64s({1, 2, 3}), splits))
        .fingerprints.at(0);
  };
  EXPECT_EQ(hash({0, 1, 3}).count, 2u);
  EXPECT_EQ(hash({0, 1, 3}).hash, hash({0, 1, 3}).hash);
  EXPECT_NE(hash({0, 1, 3}).hash, hash({0, 2, 3}).hash);
}

TEST(Numpy, RefusesSplitsThatAreNone) {
  const GraphBuilder source = SourceNumpy(RaggedColumn(DType::kInt64));
  const auto refusal = [&](const std::vector<int64_t>& splits) {
    return Refusal(source, WithRagged(Int64s({1, 2, 3}), splits));
  };
  EXPECT_THAT(refusal({}),
              HasSubstr("the splits of column \"x\" are int64 (0,); they must be int64 of shape (n + 1,)"));
  EXPECT_THAT(refusal({1, 3}), HasSubstr("go from 1 to 3; they must go from 0 to 3"));
  EXPECT_THAT(refusal({0, 4}), HasSubstr("go from 0 to 4; they must go from 0 to 3"));
  EXPECT_THAT(refusal({0, 2, 1, 3}), HasSubstr("row 1 of column \"x\" begins at value 2 and ends at value 1"));
  EXPECT_THAT(refusal({0, -1, 3}), HasSubstr("row 0 of column \"x\" begins at value 0 and ends at value -1"));
  EXPECT_THAT(Refusal(SourceNumpy(Int64Columns("x")), WithRagged(Int64s({1}), {0, 1})),
              HasSubstr("has rows of int64 (None,); the graph was built for int64 ()"));
  RunSpec floats = WithRagged(Int64s({1}), {0, 1});
  floats.bindings.arrays["data"].splits["x"] = *Tensor::Allocate(DType::kFloat64, {2});
  EXPECT_THAT(Refusal(source, floats), HasSubstr("the splits of column \"x\" are float64 (2,)"));
  RunSpec two = WithRagged(Int64s({1, 2}), {0, 1, 2});
  two.bindings.arrays["data"].columns.push_back({"y", Int64s({1})});
  ir::Schema both = RaggedColumn(DType::kInt64);
  both.columns.push_back(Int64Columns("y").columns[0]);
  EXPECT_THAT(Refusal(SourceNumpy(both), two), HasSubstr("columns \"x\" and \"y\" have 2 and 1 rows"));
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
