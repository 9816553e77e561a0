#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphBuilder Repeated(int64_t rows, int64_t count, bool shuffle = false) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", BoolValue(shuffle)}});
  builder.Add("repeat", {0}, {{"count", IntValue(count)}});
  return builder;
}

TEST(Repeat, GivesPassesAsOneEpoch) {
  const Ran ran = RunEveryWay(Repeated(2, 3));
  EXPECT_THAT(ran.Ints(0, 0), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(0, 1, 0, 1, 0, 1));
}

TEST(Repeat, ShufflesEveryPassAnew) {
  const std::vector<int64_t> values = RunEveryWay(Repeated(20, 2, true)).Ints();
  EXPECT_NE(std::vector(values.begin(), values.begin() + 20), std::vector(values.begin() + 20, values.end()));
}

TEST(Repeat, TellsTheRowsOfPassesApart) {
  const std::vector<uint64_t> keys = RunEveryWay(Repeated(4, 3)).Keys();
  EXPECT_EQ(std::set<uint64_t>(keys.begin(), keys.end()).size(), 12u);
}

TEST(Repeat, OfRepeatMultiplies) {
  GraphBuilder builder = Repeated(2, 2);
  builder.Add("repeat", {1}, {{"count", IntValue(2)}});
  EXPECT_THAT(RunEveryWay(builder).Ints(0, 1), ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
}

TEST(Repeat, EndlesslyOverNothingIsAnError) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(0)}});
  builder.Add("repeat", {0});
  RunSpec spec;
  spec.epochs = 1;
  EXPECT_THAT(std::string(RunEveryWay(builder, spec).error.message()), HasSubstr("gives no rows"));
}

TEST(Repeat, OverNothingIsNothing) { EXPECT_TRUE(RunEveryWay(Repeated(0, 3)).rows.empty()); }

}  // namespace
}  // namespace headrace
