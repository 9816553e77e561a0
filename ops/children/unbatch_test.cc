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

// Range(rows) in batches, those in messages of `group`, unbatched.
GraphBuilder Unbatched(int64_t rows, int64_t batch, int64_t group) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  builder.Add("batch", {0}, {{"size", IntValue(batch)}});
  builder.Add("test_group", {1}, {{"rows", IntValue(group)}});
  builder.Add("unbatch", {2});
  return builder;
}

class Unbatch : public ::testing::TestWithParam<int64_t> {};

TEST_P(Unbatch, MakesARowOfEveryEntry) {
  const Ran ran = RunEveryWay(Unbatched(10, 4, GetParam()));
  EXPECT_THAT(ran.Ints(0, 0), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_EQ(ran.Keys(1)[5], MixKey(4, 1)) << "the batch's key, which is its first row's, and the number in it";
}

TEST_P(Unbatch, MayBeBatchedAnew) {
  GraphBuilder builder = Unbatched(10, 4, GetParam());
  builder.Add("batch", {3}, {{"size", IntValue(3)}});
  EXPECT_THAT(RunEveryWay(builder).Texts(1), ElementsAre("value=int64 (3,) [0 1 2]", "value=int64 (3,) [3 4 5]",
                                                         "value=int64 (3,) [6 7 8]", "value=int64 (1,) [9]"));
}

TEST_P(Unbatch, StopsAmidARow) {
  GraphBuilder builder = Unbatched(20, 6, GetParam());
  builder.Add("take", {3}, {{"count", IntValue(8)}});
  EXPECT_THAT(RunEveryWay(builder).Ints(0, 1), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

INSTANTIATE_TEST_SUITE_P(Grouped, Unbatch, ::testing::Values(1, 2, 3));

// Rows with columns a and b of the lengths given.
GraphBuilder OfLengths() {
  const ir::ColumnType vector = ir::ColumnType::Of(DType::kInt64, {ir::kUnknownDim});
  GraphBuilder builder;
  builder.Add("Generator", {},
              {{"function", ir::ReferenceValue("lengths")},
               {"columns", ir::ColumnsValue(ir::Schema{{{"a", vector}, {"b", vector}}})}});
  builder.Add("test_group", {0}, {{"rows", IntValue(2)}});
  builder.Add("unbatch", {1});
  return builder;
}

RunSpec Lengths(std::vector<std::pair<int64_t, int64_t>> lengths) {
  RunSpec spec;
  BindIterator(spec.bindings, "lengths", [lengths](uint64_t, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    if (i >= lengths.size()) return std::vector<Tensor>();
    const auto [a, b] = lengths[i];
    return std::vector<Tensor>{Int64s(std::vector<int64_t>(a, static_cast<int64_t>(i))),
                               Int64s(std::vector<int64_t>(b, static_cast<int64_t>(i)))};
  });
  return spec;
}

TEST(Unbatch, TakesRowsOfAnyLength) {
  const Ran ran = RunEveryWay(OfLengths(), Lengths({{2, 2}, {0, 0}, {3, 3}, {0, 0}}));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 0, 2, 2, 2));
}

TEST(Unbatch, NamesColumnsThatDifferInLength) {
  const Ran ran = RunEveryWay(OfLengths(), Lengths({{2, 2}, {1, 1}, {3, 2}, {1, 1}}));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 0, 1));
  EXPECT_THAT(ran.error.ToString(), HasSubstr("columns \"a\" and \"b\" have 3 and 2 rows"));
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kOperator), "unbatch[2]");
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kRow), "epoch 0, key 2");
}

TEST(Unbatch, GivesStringsBack) {
  GraphBuilder builder;
  const ir::Schema schema{{{"s", ir::ColumnType::Of(DType::kString, {})}}};
  builder.Add("Numpy", {}, {{"arrays", ir::ReferenceValue("s")}, {"columns", ir::ColumnsValue(schema)}});
  builder.Add("batch", {0}, {{"size", IntValue(2)}});
  builder.Add("unbatch", {1});
  RunSpec spec;
  spec.bindings.arrays["s"].columns = {{"s", Strings({"one", "", "three"})}};
  EXPECT_THAT(RunEveryWay(builder, spec).Texts(1), ElementsAre("s='one'", "s=''", "s='three'"));
}

TEST(Unbatch, RefusesScalarsAndUnequalLengths) {
  GraphBuilder scalars;
  scalars.Add("Range", {}, {{"stop", IntValue(3)}});
  scalars.Add("unbatch", {0});
  EXPECT_THAT(Refusal(scalars), HasSubstr("column \"value\" is int64 (): it has no first axis to unbatch"));
  GraphBuilder unequal;
  const ir::Schema schema{
      {{"a", ir::ColumnType::Of(DType::kInt64, {2})}, {"b", ir::ColumnType::Of(DType::kInt64, {3})}}};
  unequal.Add("Numpy", {}, {{"arrays", ir::ReferenceValue("ab")}, {"columns", ir::ColumnsValue(schema)}});
  unequal.Add("unbatch", {0});
  EXPECT_THAT(Refusal(unequal), HasSubstr("columns \"a\" and \"b\" have 2 and 3 rows"));
}

}  // namespace
}  // namespace headrace
