#include "ir/passes/insert_caches.h"

#include <gtest/gtest.h>

#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ir/testing/fake_ops.h"

namespace headrace::ir {
namespace {

GraphBuilder::Given CountInsertCaches(int64_t count) { return {{"count", IntValue(count)}}; }

// Of each node.
std::vector<uint32_t> CachePoints(const GraphBuilder& builder) {
  std::vector<uint32_t> points;
  const proto::Graph graph = *InsertCaches(builder.Canonical());
  for (const proto::Node& node : graph.nodes()) points.push_back(node.cache_points());
  return points;
}

using Expected = std::vector<uint32_t>;

TEST(InsertCaches, MarksTheStepsBeforeTheFirstDraw) {
  GraphBuilder builder;
  builder.Add("encoded");
  builder.Add("map", {0});
  builder.Step("Decode", {"image"}, {"image"});
  builder.Step("Negate", {"image"}, {"image"});
  builder.Step("Flip", {"image"}, {"image"});
  builder.Step("Negate", {"image"}, {"image"});
  EXPECT_EQ(CachePoints(builder), (Expected{0, 3}));
}

TEST(InsertCaches, MarksNothingAfterPython) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Call", {"image"}, {"image"});
  builder.Step("Negate", {"image"}, {"image"});
  builder.Add("map", {1});
  builder.Step("Negate", {"image"}, {"image"});
  EXPECT_EQ(CachePoints(builder), (Expected{0, 1, 0}));
}

TEST(InsertCaches, MarksOneOfSeveralMaps) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("take", {0}, CountInsertCaches(5));
  builder.Add("map", {1});
  builder.Step("Negate", {"image"}, {"image"});
  builder.Add("project", {2}, {{"columns", StringsValue({"image"})}});
  builder.Add("map", {3});
  builder.Step("Negate", {"image"}, {"image"});
  builder.Step("Flip", {"image"}, {"image"});
  builder.Add("map", {4});
  builder.Step("Negate", {"image"}, {"image"});
  EXPECT_EQ(CachePoints(builder), (Expected{0, 0, 0, 0, 2, 0}));
  GraphBuilder apart;
  apart.Add("pictures");
  apart.Add("map", {0});
  apart.Step("Negate", {"image"}, {"image"});
  apart.Add("map", {1});
  apart.Step("Flip", {"image"}, {"image"});
  EXPECT_EQ(CachePoints(apart), (Expected{0, 2, 0})) << "the cache point after the lower one's last step";
}

TEST(InsertCaches, MarksAboveWhatDropsRepeatsAndShufflesRows) {
  GraphBuilder shuffled;
  shuffled.Add("pictures");
  shuffled.Add("shuffle", {0}, {{"window", IntValue(3)}});
  shuffled.Add("map", {1});
  shuffled.Step("Negate", {"image"}, {"image"});
  EXPECT_EQ(CachePoints(shuffled), (Expected{0, 0, 2}));
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("repeat", {0}, CountInsertCaches(3));
  builder.Add("take", {1}, CountInsertCaches(50));
  builder.Add(
      "filter", {2},
      {{"predicate", ExpressionValue(CallExpression("<", ColumnExpression("label"), LiteralExpression(IntValue(3))))}});
  builder.Add("map", {3});
  builder.Step("Negate", {"image"}, {"image"});
  builder.Step("Flip", {"image"}, {"image"});
  builder.Add("repeat", {4}, CountInsertCaches(2));
  builder.Add("map", {5});
  builder.Step("Negate", {"image"}, {"image"});
  EXPECT_EQ(CachePoints(builder), (Expected{0, 0, 0, 0, 2, 0, 0})) << "nothing after a draw";
}

TEST(InsertCaches, MarksNothingWhereRowsHaveNoKeys) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("batch", {0}, {{"size", IntValue(3)}});
  builder.Add("map", {1});
  builder.Step("Negate", {"image"}, {"image"});
  EXPECT_EQ(CachePoints(builder), (Expected{0, 0, 0}));
}

}  // namespace
}  // namespace headrace::ir
