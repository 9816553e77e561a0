#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "ir/value.h"
#include "kernels/plugin/plugin_library.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphBuilder Squares(int64_t rows, GraphBuilder::Given more = {}) {
  const auto plugin = LoadPlugin("plugin/testing/reading_plugin.so");
  EXPECT_TRUE(plugin.ok()) << plugin.status();
  more.emplace_back("rows", ir::IntValue(rows));
  GraphBuilder builder;
  builder.Add("readops.Squares", {}, more);
  return builder;
}

TEST(PluginSource, GivesItsRowsInEveryWay) {
  const Ran ran = RunEveryWay(Squares(23));
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  ASSERT_EQ(ran.Ints().size(), 23U);
  for (size_t i = 0; i < 23; ++i) {
    EXPECT_EQ(ran.Ints()[i], static_cast<int64_t>(i));
    EXPECT_EQ(ran.Keys()[i], i);
    EXPECT_EQ(ran.rows[i].columns[1].data<float>()[0], static_cast<float>(i * i));
    EXPECT_EQ(ran.rows[i].columns[2].bytes_value().size(), i % 5);
  }
  EXPECT_EQ(ran.fingerprints[0].source, "readops.Squares");
  EXPECT_EQ(ran.fingerprints[0].count, 23U);
  EXPECT_TRUE(RunEveryWay(Squares(0)).rows.empty());
}

TEST(PluginSource, IsShuffledByNumbersAndShared) {
  const GraphBuilder shuffled = Squares(31, {{"shuffle", ir::BoolValue(true)}});
  const Ran whole = RunEveryWay(shuffled);
  EXPECT_NE(whole.Ints(0, 0), whole.Ints(0, 1));
  const std::vector<Ran> ranks = RunRanks(shuffled, 3);
  for (uint64_t rank = 0; rank < 3; ++rank) {
    std::vector<int64_t> expected;
    for (size_t i = rank; i < 31; i += 3) expected.push_back(whole.Ints()[i]);
    EXPECT_EQ(ranks[rank].Ints(), expected);
  }
}

TEST(PluginSource, NamesTheRowThatFails) {
  const Ran ran = RunEveryWay(Squares(9, {{"real_rows", ir::IntValue(5)}}));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("has no row 5 any more"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("readops.Squares"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("position 5"));
}

TEST(PluginSource, LeavesOutRowsThatFail) {
  GraphBuilder builder = Squares(9, {{"fault", ir::StringValue("not found")}});
  builder.SkipFailed(10);
  const Ran ran = RunEveryWay(builder);
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 1, 2, 4, 5, 6, 7, 8));
}

}  // namespace
}  // namespace headrace
