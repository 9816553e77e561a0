#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/testing/chi_square.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/row_values.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::HasSubstr;
using ::testing::SizeIs;

GraphBuilder OverClassBalanced(int64_t rows, int64_t n, DType dtype = DType::kInt64) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  AddRowValues(builder, dtype);
  GraphBuilder::Given given{{"column", ir::StringValue("value")}};
  if (n > 0) given.emplace_back("n", IntValue(n));
  builder.Add("ClassBalanced", {0, 1}, given);
  return builder;
}

TEST(ClassBalanced, GivesSoManyRowsAndOthersInEachEpoch) {
  const RunSpec spec = WithRowValues(Int64s({3, 3, 3, -8, 3}));
  const Ran ran = RunEveryWay(OverClassBalanced(5, 40), spec);
  EXPECT_THAT(ran.Ints(), SizeIs(40));
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
  EXPECT_THAT(RunEveryWay(OverClassBalanced(5, 0), spec).Ints(), SizeIs(5));
}

// One row of six is a class, two are another, three the last.
TEST(ClassBalanced, DrawsClassesEquallyOftenAndTheirRowsToo) {
  if (!kCountsChances) GTEST_SKIP();
  for (Tensor labels : {Int64s({7, 5, 5, 9, 9, 9}), Strings({"a", "bb", "bb", "", "", ""})}) {
    const DType dtype = labels.dtype();
    const Ran ran =
        *RunOnce(*OverClassBalanced(6, 60, dtype).Build(), OptionsOf(WithRowValues(std::move(labels), 500)));
    std::vector<int64_t> counts(6);
    for (uint64_t epoch = 0; epoch < 500; ++epoch) {
      for (const int64_t row : ran.Ints(0, epoch)) ++counts[static_cast<size_t>(row)];
    }
    const std::vector<double> expected{10'000, 5000, 5000, 10'000.0 / 3, 10'000.0 / 3, 10'000.0 / 3};
    EXPECT_LT(std::abs(ChiSquareDeviation(counts, expected)), kMostDeviation) << DTypeName(dtype);
  }
}

TEST(ClassBalanced, IsShardedAboveItsDraws) {
  const RunSpec spec = WithRowValues(Int64s({0, 1, 1, 1}));
  const std::vector<int64_t> whole = RunEveryWay(OverClassBalanced(4, 10), spec).Ints();
  const std::vector<Ran> ranks = RunRanks(OverClassBalanced(4, 10), 2, spec);
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(ranks[i % 2].Ints()[i / 2], whole[i]);
}

TEST(ClassBalanced, RefusesOtherLabels) {
  EXPECT_THAT(Refusal(OverClassBalanced(3, 5), WithRowValues(Int64s({1}))),
              HasSubstr("has 3 rows; give one of the labels for each, not 1"));
  EXPECT_THAT(Refusal(OverClassBalanced(0, 5), WithRowValues(Int64s({}))), HasSubstr("has no rows to draw from"));
  GraphBuilder many;
  many.Add("Range", {}, {{"stop", IntValue(1 << 30)}});
  many.Add("ClassBalanced", {0, 0}, {{"column", ir::StringValue("value")}});
  EXPECT_THAT(Refusal(many), HasSubstr("takes 32 bytes for each of 1073741824 rows"));
  GraphBuilder unlike;
  unlike.Add("Range", {}, {{"stop", IntValue(600)}});
  unlike.Add("ClassBalanced", {0, 0}, {{"column", ir::StringValue("value")}});
  PipelineOptions options = OptionsOf({});
  options.memory = 1 << 16;
  EXPECT_THAT(Pipeline::Make(*unlike.Build(), options).status().message(),
              HasSubstr("has too many different labels for the budget"));
}

}  // namespace
}  // namespace headrace
