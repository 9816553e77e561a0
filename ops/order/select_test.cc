#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/row_id.h"
#include "ir/canonical.h"
#include "ir/dump.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ops/order/occurrence_key.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntsValue;
using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

uint32_t RangeSelect(GraphBuilder& builder, bool shuffle, int64_t rows = 10) {
  return builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", BoolValue(shuffle)}});
}

uint32_t Selected(GraphBuilder& builder, uint32_t input, const std::vector<int64_t>& rows) {
  return builder.Add("select", {input}, {{"indices", IntsValue(rows)}});
}

uint32_t Project(GraphBuilder& builder, uint32_t input) {
  return builder.Add("project", {input}, {{"columns", ir::StringsValue({"value"})}});
}

GraphBuilder OverSelect(const std::vector<int64_t>& rows) {
  GraphBuilder builder;
  Selected(builder, RangeSelect(builder, false), rows);
  return builder;
}

std::vector<std::string> Ops(const GraphBuilder& builder) {
  std::vector<std::string> ops;
  const ir::proto::Graph graph = *builder.Build();
  for (const ir::proto::Node& node : graph.nodes()) ops.push_back(node.op());
  return ops;
}

TEST(Select, GivesTheRowsInTheirGivenOrder) {
  const Ran ran = RunEveryWay(OverSelect({7, 0, 3}));
  EXPECT_THAT(ran.Ints(), ElementsAre(7, 0, 3));
  EXPECT_THAT(ran.Keys(), ElementsAre(7, 0, 3));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(7, 0, 3));
}

TEST(Select, OfNoneIsEmpty) { EXPECT_THAT(RunEveryWay(OverSelect({})).rows, IsEmpty()); }

TEST(Select, OfARowAgainHasAnotherKey) {
  const Ran ran = RunEveryWay(OverSelect({4, 2, 4, 4}));
  EXPECT_THAT(ran.Ints(), ElementsAre(4, 2, 4, 4));
  EXPECT_THAT(ran.Keys(), ElementsAre(4, 2, KeyOfOccurrence(4, 0, 1), KeyOfOccurrence(4, 0, 2)));
}

TEST(Select, RefusesWhatIsNoRow) {
  EXPECT_THAT(Refusal(OverSelect({1, 10})), HasSubstr("indices[1] is 10, but there are 10 rows, numbered from 0"));
  EXPECT_THAT(Refusal(OverSelect({1, -1})), HasSubstr("indices"));
}

TEST(Select, PassesMapsAndTheShuffleBelowThem) {
  GraphBuilder builder;
  Selected(builder, Project(builder, RangeSelect(builder, true)), {1, 3, 5, 7});
  EXPECT_THAT(Ops(builder), ElementsAre("Range", "select", "permute", "project"));
  const Ran ran = RunEveryWay(builder);
  EXPECT_THAT(ran.Ints(0, 0), UnorderedElementsAre(1, 3, 5, 7));
  EXPECT_THAT(ran.Ints(0, 1), UnorderedElementsAre(1, 3, 5, 7));
  std::set<std::vector<int64_t>> orders;
  RunSpec spec;
  spec.epochs = 8;
  const Ran many = RunEveryWay(builder, spec);
  for (uint64_t epoch = 0; epoch < 8; ++epoch) orders.insert(many.Ints(0, epoch));
  EXPECT_GT(orders.size(), 3u) << "shuffled after the choice";
}

TEST(Select, OfASelectionNamesItsRows) {
  GraphBuilder builder;
  Selected(builder, Project(builder, Selected(builder, RangeSelect(builder, true), {9, 8, 7, 6})), {0, 3});
  EXPECT_THAT(Ops(builder), ElementsAre("Range", "select", "select", "permute", "project"));
  EXPECT_THAT(RunEveryWay(builder).Ints(), UnorderedElementsAre(9, 6));
}

TEST(Select, LeavesOtherUsesOfItsInputAlone) {
  GraphBuilder builder;
  const uint32_t all = Project(builder, RangeSelect(builder, true));
  const uint32_t two =
      builder.Add("rename", {Selected(builder, all, {2, 3})}, {{"mapping", ir::PairsValue({{"value", "chosen"}})}});
  builder.Add("zip", {all, two});
  EXPECT_THAT(Ops(builder),
              ElementsAre("Range", "permute", "project", "select", "permute", "project", "rename", "zip"));
  const ir::proto::Graph graph = *builder.Build();
  EXPECT_EQ(graph.nodes(1).salt(), graph.nodes(4).salt()) << "the same operator twice";
  EXPECT_THAT(RunEveryWay(builder).Ints(1), UnorderedElementsAre(2, 3));
}

TEST(Select, IsOverUnshuffledIndices) {
  GraphBuilder builder;
  const uint32_t both = builder.Add("concat", {RangeSelect(builder, false), RangeSelect(builder, false, 5)});
  Selected(builder, builder.Add("skip", {both}, {{"count", IntValue(8)}}), {0, 1, 2});
  EXPECT_THAT(RunEveryWay(builder).Ints(), ElementsAre(8, 9, 0));
}

TEST(Select, IsRefusedWhereRowsHaveNoNumbers) {
  GraphBuilder filtered;
  const auto odd = ir::CallExpression("%", ir::ColumnExpression("value"), ir::LiteralExpression(IntValue(2)));
  Selected(filtered,
           filtered.Add(
               "filter", {RangeSelect(filtered, false)},
               {{"predicate", ir::ExpressionValue(ir::CallExpression("==", odd, ir::LiteralExpression(IntValue(1))))}}),
           {0});
  EXPECT_THAT(Refusal(filtered), HasSubstr("put it below filter (test.py:2), next to the source"));
  GraphBuilder windowed;
  Selected(windowed, windowed.Add("shuffle", {RangeSelect(windowed, false)}, {{"window", IntValue(3)}}), {0});
  EXPECT_THAT(Refusal(windowed), HasSubstr("put it below shuffle (test.py:2)"));
  GraphBuilder taken;
  Selected(taken, taken.Add("take", {Project(taken, RangeSelect(taken, false))}, {{"count", IntValue(3)}}), {0});
  EXPECT_THAT(Refusal(taken), HasSubstr("put it below take (test.py:3)"));
}

TEST(Select, IsRefusedWherePartsWouldOverlap) {
  GraphBuilder taken;
  Selected(taken, taken.Add("take", {RangeSelect(taken, true)}, {{"count", IntValue(3)}}), {0});
  EXPECT_THAT(Refusal(taken), HasSubstr("take (test.py:2) gives other rows in each epoch, as a source below it is "
                                        "shuffled: parts would overlap; put it below take"));
  GraphBuilder chained;
  Selected(chained, chained.Add("concat", {RangeSelect(chained, true), RangeSelect(chained, false)}), {0});
  EXPECT_THAT(Refusal(chained), HasSubstr("concat (test.py:3) gives other rows in each epoch"));
}

TEST(Select, OverManyOthersIsPlacedInTime) {
  GraphBuilder builder;
  uint32_t top = RangeSelect(builder, true);
  for (int i = 0; i < 300; ++i) top = Selected(builder, Project(builder, top), {0, 1});
  EXPECT_EQ(Ops(builder).size(), 602u);
}

}  // namespace
}  // namespace headrace
