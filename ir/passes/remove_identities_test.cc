#include "ir/passes/remove_identities.h"

#include <gtest/gtest.h>

#include "ir/dump.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ir/testing/fake_ops.h"

namespace headrace::ir {
namespace {

std::string Without(const GraphBuilder& builder) { return GraphDump(*RemoveIdentities(builder.Canonical())); }

GraphBuilder::Given CountRemoveIdentities(int64_t count) { return {{"count", IntValue(count)}}; }
GraphBuilder::Given ColumnsRemoveIdentities(std::vector<std::string> names) {
  return {{"columns", StringsValue(names)}};
}
GraphBuilder::Given PredicateRemoveIdentities(proto::Value literal) {
  return {{"predicate", ExpressionValue(LiteralExpression(std::move(literal)))}};
}

TEST(RemoveIdentities, OverIndices) {
  GraphBuilder builder;
  builder.Add("fixed");
  builder.Add("skip", {0}, CountRemoveIdentities(0));
  builder.Add("take", {1}, CountRemoveIdentities(3));
  builder.Add("take", {2}, CountRemoveIdentities(2));
  builder.Add("skip", {3}, CountRemoveIdentities(1));
  builder.Add("take", {4}, CountRemoveIdentities(2));
  EXPECT_EQ(Without(builder),
            "#0  fixed()\n"
            "#1  take(#0, count=2)\n"
            "#2  skip(#1, count=1)\n");
}

// A state holds the counter of a skip that counts rows.
TEST(RemoveIdentities, KeepsWhatCountsRows) {
  GraphBuilder builder;
  builder.Add("fixed");
  builder.Add("shuffle", {0}, {{"window", IntValue(2)}});
  builder.Add("skip", {1}, CountRemoveIdentities(0));
  builder.Add("take", {2}, CountRemoveIdentities(9));
  EXPECT_EQ(Without(builder), GraphDump(builder.Canonical()));
}

TEST(RemoveIdentities, OfRowsAndColumns) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("project", {0}, ColumnsRemoveIdentities({"value", "square"}));
  builder.Add("rename", {1}, {{"mapping", PairsValue({{"value", "value"}})}});
  builder.Add("filter", {2}, PredicateRemoveIdentities(BoolValue(true)));
  builder.Add("filter", {3}, PredicateRemoveIdentities(BoolValue(false)));
  builder.Add("project", {4}, ColumnsRemoveIdentities({"square", "value"}));
  EXPECT_EQ(Without(builder),
            "#0  numbers(stop=10)\n"
            "#1  filter(#0, predicate=False)\n"
            "#2  project(#1, columns=('square', 'value'))\n");
}

TEST(RemoveIdentities, LeavesAProjectWhereItKeptOperatorsOnIndicesApart) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("project", {0}, ColumnsRemoveIdentities({"value", "square"}));
  builder.Add("filter", {1}, PredicateRemoveIdentities(BoolValue(true)));
  builder.Add("take", {2}, CountRemoveIdentities(5));
  builder.Add("project", {3}, ColumnsRemoveIdentities({"value", "square"}));
  EXPECT_EQ(Without(builder),
            "#0  numbers(stop=10)\n"
            "#1  project(#0, columns=('value', 'square'))\n"
            "#2  take(#1, count=5)\n");
}

TEST(RemoveIdentities, OfKernels) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Resize", {"image"}, {"image"}, {{"size", IntValue(8)}})
      .Step("Resize", {"image"}, {"image"}, {{"size", IntValue(8)}})
      .Step("Resize", {"image"}, {"copy"}, {{"size", IntValue(8)}});
  builder.Add("map", {1});
  builder.Step("Resize", {"copy"}, {"copy"}, {{"size", IntValue(8)}});
  EXPECT_EQ(Without(builder),
            "#0  pictures(columns=None)\n"
            "#1  map(#0, workers=None)\n"
            "      image = Resize(image; interpolation='bilinear', size=(8, 8))\n"
            "      copy = Resize(image; interpolation='bilinear', size=(8, 8))\n");
}

TEST(RemoveIdentities, OfWhatTwoUse) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("shuffle", {0}, {{"window", IntValue(2)}});
  builder.Add("project", {1}, ColumnsRemoveIdentities({"value", "square"}));
  builder.Add("rename", {2}, {{"mapping", PairsValue({{"value", "a"}, {"square", "b"}})}});
  builder.Add("zip", {2, 3});
  EXPECT_EQ(Without(builder),
            "#0  numbers(stop=10)\n"
            "#1  shuffle(#0, name=None, seed=None, window=2)  salt 12448176966133054717\n"
            "#2  rename(#1, mapping={'value': 'a', 'square': 'b'})\n"
            "#3  zip(#1, #2)\n");
}

}  // namespace
}  // namespace headrace::ir
