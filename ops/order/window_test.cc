#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "ir/graph.pb.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using WindowInts = std::vector<int64_t>;

struct WindowSpec {
  int64_t size;
  int64_t shift;
  int64_t stride;
};

GraphBuilder WindowsOf(int64_t rows, const WindowSpec& spec, bool shuffle = false) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", ir::BoolValue(shuffle)}});
  builder.Add("window", {0},
              {{"size", IntValue(spec.size)}, {"shift", IntValue(spec.shift)}, {"stride", IntValue(spec.stride)}});
  builder.Add("batch", {1}, {{"size", IntValue(spec.size)}, {"drop_remainder", ir::BoolValue(true)}});
  return builder;
}

std::vector<WindowInts> WindowsIn(const Ran& ran, uint64_t epoch = 0) {
  std::vector<WindowInts> windows;
  for (const RanRow& row : ran.rows) {
    const Tensor& values = row.columns[0];
    if (row.epoch == epoch) {
      windows.emplace_back(values.data<int64_t>(), values.data<int64_t>() + values.elements());
    }
  }
  return windows;
}

TEST(Window, HasRowsThatFollowEachOther) {
  for (const WindowSpec& spec :
       std::vector<WindowSpec>{{3, 1, 1}, {3, 3, 1}, {2, 5, 1}, {3, 2, 2}, {2, 3, 4}, {1, 1, 1}}) {
    std::vector<WindowInts> expected;
    for (int64_t first = 0; first + (spec.size - 1) * spec.stride < 11; first += spec.shift) {
      WindowInts window;
      for (int64_t i = 0; i < spec.size; ++i) window.push_back(first + i * spec.stride);
      expected.push_back(window);
    }
    const Ran ran = RunEveryWay(WindowsOf(11, spec));
    EXPECT_EQ(WindowsIn(ran), expected);
    EXPECT_EQ(WindowsIn(ran, 1), expected);
    EXPECT_EQ(ran.cardinality, Cardinality::Of(expected.size()));
  }
}

TEST(Window, OfFewerRowsThanItHasIsNone) {
  EXPECT_THAT(RunEveryWay(WindowsOf(4, {3, 1, 2})).rows, IsEmpty());
  EXPECT_THAT(RunEveryWay(WindowsOf(0, {1, 1, 1})).rows, IsEmpty());
}

TEST(Window, GivesARowItsOwnKeyEachTime) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(12)}});
  builder.Add("window", {0}, {{"size", IntValue(4)}, {"shift", IntValue(2)}, {"stride", IntValue(3)}});
  const std::vector<uint64_t> keys = RunEveryWay(builder).Keys();
  EXPECT_EQ(std::set<uint64_t>(keys.begin(), keys.end()).size(), keys.size());
}

TEST(Window, IsOfTheOrderThatComes) {
  const Ran ran = RunEveryWay(WindowsOf(9, {2, 1, 1}, /*shuffle=*/true));
  const std::vector<WindowInts> windows = WindowsIn(ran);
  ASSERT_EQ(windows.size(), 8u);
  for (size_t i = 1; i < windows.size(); ++i) EXPECT_EQ(windows[i][0], windows[i - 1][1]);
  EXPECT_NE(windows, WindowsIn(ran, 1));
}

TEST(Window, GoesWholeToARank) {
  const std::vector<Ran> ranks = RunRanks(WindowsOf(7, {3, 1, 1}), 2);
  EXPECT_THAT(WindowsIn(ranks[0]), ElementsAre(WindowInts{0, 1, 2}, WindowInts{2, 3, 4}, WindowInts{4, 5, 6}));
  EXPECT_THAT(WindowsIn(ranks[1]), ElementsAre(WindowInts{1, 2, 3}, WindowInts{3, 4, 5}));
}

TEST(Window, PassesMaps) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(4)}});
  builder.Add("map", {0});
  builder.Step("TypeCast", {"value"}, {"value"}, {{"dtype", ir::StringValue("int64")}});
  builder.Add("window", {1}, {{"size", IntValue(2)}, {"shift", IntValue(1)}});
  builder.Add("batch", {2}, {{"size", IntValue(2)}, {"drop_remainder", ir::BoolValue(true)}});
  EXPECT_THAT(WindowsIn(RunEveryWay(builder)), ElementsAre(WindowInts{0, 1}, WindowInts{1, 2}, WindowInts{2, 3}));
}

TEST(Window, NeedsIndices) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(4)}});
  builder.Add("shuffle", {0}, {{"window", IntValue(2)}});
  builder.Add("window", {1}, {{"size", IntValue(2)}});
  EXPECT_THAT(Refusal(builder), HasSubstr("window"));
}

}  // namespace
}  // namespace headrace
