// Maps with choosers: what is drawn is the same however the map runs, and for every column.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "core/error.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::FloatsValue;
using ir::FloatValue;
using ir::IntValue;
using ir::StringValue;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphBuilder RowsMapChoosers(int64_t stop) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(stop)}});
  builder.Add("map", {0});
  return builder;
}

GraphBuilder::Given Value(double value) { return {{"value", FloatValue(value)}}; }

std::set<int64_t> Distinct(const std::vector<int64_t>& values) { return {values.begin(), values.end()}; }

TEST(MapChoosers, DrawForEachRowAndEpoch) {
  GraphBuilder builder = RowsMapChoosers(40);
  builder.Step("RandomChoice", {"value"}, {"value"}, {{"p", FloatsValue({1, 2, 0})}});
  for (const double value : {1, 2, 3}) builder.Branch().Step("Fill", {"value"}, {"value"}, Value(value)).End();
  const Ran ran = RunEveryWay(builder);
  EXPECT_THAT(Distinct(ran.Ints()), ElementsAre(1, 2));
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
}

TEST(MapChoosers, LeaveARowUnderAnotherName) {
  GraphBuilder builder = RowsMapChoosers(40);
  builder.Step("RandomApply", {"value"}, {"other"}, {{"p", FloatValue(0.5)}});
  builder.Branch().Step("Fill", {"other"}, {"other"}, Value(-1)).End();
  const Ran ran = RunEveryWay(builder);
  std::set<bool> filled;
  for (size_t i = 0; i < 40; ++i) {
    const int64_t other = ran.Ints(1)[i];
    EXPECT_EQ(ran.Ints(0)[i], static_cast<int64_t>(i));
    EXPECT_TRUE(other == -1 || other == static_cast<int64_t>(i));
    filled.insert(other == -1);
  }
  EXPECT_EQ(filled.size(), 2u);
}

// A chooser may swap what its columns are called.
TEST(MapChoosers, TakeAllColumnsBeforeTheyGiveAny) {
  GraphBuilder builder = RowsMapChoosers(5);
  builder.Step("TypeCast", {"value"}, {"copy"}, {{"dtype", StringValue("int64")}});
  builder.Step("Fill", {"copy"}, {"copy"}, Value(7));
  builder.Step("RandomApply", {"value", "copy"}, {"copy", "value"}, {{"p", FloatValue(0)}});
  builder.Branch().Step("Fill", {"copy"}, {"copy"}, Value(-1)).End();
  const Ran ran = RunEveryWay(builder);
  EXPECT_THAT(ran.Ints(0), Each(7));
  EXPECT_THAT(ran.Ints(1), ElementsAre(0, 1, 2, 3, 4));
}

TEST(MapChoosers, NestAndRunInTheDrawnOrder) {
  GraphBuilder builder = RowsMapChoosers(60);
  builder.Step("RandomOrder", {"value"}, {"value"});
  builder.Branch().Step("Fill", {"value"}, {"value"}, Value(1)).End();
  builder.Branch();
  builder.Step("RandomApply", {"value"}, {"value"}, {{"p", FloatValue(0.5)}});
  builder.Branch().Step("Fill", {"value"}, {"value"}, Value(2)).End().End();
  builder.Branch().Step("Compose", {"value"}, {"value"}).Branch().Step("Fill", {"value"}, {"value"}, Value(3));
  builder.End().End();
  EXPECT_THAT(Distinct(RunEveryWay(builder).Ints()), ElementsAre(1, 2, 3));
}

TEST(MapChoosers, NameTheKernelThatFailedForARow) {
  GraphBuilder builder = RowsMapChoosers(40);
  builder.Step("RandomApply", {"value"}, {"value"});
  builder.Branch().Step("OneHot", {"value"}, {"value"}, {{"num_classes", IntValue(3)}});
  builder.End();
  EXPECT_THAT(Refusal(builder), HasSubstr("RandomApply: column \"value\" is int64 () before, and float32"));
  GraphBuilder typed = RowsMapChoosers(40);
  typed.Step("RandomApply", {"value"}, {"value"}, {{"p", FloatValue(1)}});
  typed.Branch().Step("OneHot", {"value"}, {"value"}, {{"num_classes", IntValue(3)}}).End();
  const Ran failed = RunEveryWay(typed);
  EXPECT_EQ(failed.Texts().size(), 3u);
  EXPECT_EQ(GetErrorField(failed.error, ErrorField::kOperator), "map[1] OneHot");
}

}  // namespace
}  // namespace headrace
