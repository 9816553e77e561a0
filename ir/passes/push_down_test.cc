#include "ir/passes/push_down.h"

#include <gtest/gtest.h>

#include "ir/dump.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ir/testing/fake_ops.h"

namespace headrace::ir {
namespace {

std::string Pushed(const GraphBuilder& builder) { return GraphDump(*PushDown(builder.Canonical())); }

GraphBuilder::Given CountPushDown(int64_t count) { return {{"count", IntValue(count)}}; }
GraphBuilder::Given WindowPushDown(int64_t window) { return {{"window", IntValue(window)}}; }
GraphBuilder::Given ColumnsPushDown(std::vector<std::string> names) { return {{"columns", StringsValue(names)}}; }
GraphBuilder::Given Mapping(std::vector<std::pair<std::string, std::string>> pairs) {
  return {{"mapping", PairsValue(pairs)}};
}
GraphBuilder::Given PredicatePushDown(std::string_view column, std::string_view function = "<") {
  proto::Expression left = ColumnExpression(column);
  if (function != "<") left = CallExpression(function, std::move(left), LiteralExpression(IntValue(2)));
  return {{"predicate", ExpressionValue(CallExpression("<", std::move(left), LiteralExpression(IntValue(5))))}};
}

TEST(PushDown, TakeAndSkipGoBelowMaps) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("shuffle", {0}, WindowPushDown(4));
  builder.Add("map", {1});
  builder.Step("Flip", {"image"}, {"image"});
  builder.Add("skip", {2}, CountPushDown(2));
  builder.Add("project", {3}, ColumnsPushDown({"label", "image"}));
  builder.Add("take", {4}, CountPushDown(3));
  EXPECT_EQ(Pushed(builder),
            "#0  pictures(columns=None)\n"
            "#1  shuffle(#0, name=None, seed=None, window=4)  salt 12448176966133054717\n"
            "#2  skip(#1, count=2)\n"
            "#3  take(#2, count=3)\n"
            "#4  project(#3, columns=('label', 'image'))\n"
            "#5  map(#4, workers=None)\n"
            "      image = Flip(image; name=None, probability=0.5, seed=None)  salt 8055669739214727032\n");
}

// Rows of the source are sharded among ranks below the take in either case.
TEST(PushDown, LeavesThePointWhereRowsAreSharded) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Negate", {"image"}, {"image"});
  builder.Add("take", {1}, CountPushDown(3));
  EXPECT_EQ(Pushed(builder),
            "#0  pictures(columns=None)\n"
            "#1  project(#0, columns=('image', 'label'))\n"
            "#2  take(#1, count=3)\n"
            "#3  map(#2, workers=None)\n"
            "      image = Negate(image)\n");
  GraphBuilder light;
  light.Add("numbers");
  light.Add("project", {0}, ColumnsPushDown({"value"}));
  light.Add("take", {1}, CountPushDown(3));
  EXPECT_EQ(Pushed(light), GraphDump(light.Canonical()));
  GraphBuilder indexed;
  indexed.Add("numbers");
  indexed.Add("take", {0}, CountPushDown(3));
  indexed.Add("project", {1}, ColumnsPushDown({"value"}));
  EXPECT_EQ(Pushed(indexed), GraphDump(indexed.Canonical()));
}

TEST(PushDown, ATakePassesPythonAndASkipDoesNot) {
  for (const std::string op : {"take", "skip"}) {
    GraphBuilder builder;
    builder.Add("pictures");
    builder.Add("shuffle", {0}, WindowPushDown(4));
    builder.Add("map", {1});
    builder.Step("Call", {"image"}, {"image"}, {{"function", ReferenceValue("f")}});
    builder.Add(op, {2}, CountPushDown(2));
    EXPECT_EQ(Pushed(builder) == GraphDump(builder.Canonical()), op == "skip") << Pushed(builder);
  }
}

TEST(PushDown, AFilterPassesMapsThatWriteNothingItReads) {
  GraphBuilder builder;
  builder.Add("pictures", {}, ColumnsPushDown({"image", "label", "path"}));
  builder.Add("map", {0});
  builder.Step("Negate", {"label"}, {"label"});
  builder.Add("map", {1});
  builder.Step("Flip", {"image"}, {"image"});
  builder.Add("project", {2}, ColumnsPushDown({"image", "label"}));
  builder.Add("filter", {3}, PredicatePushDown("label"));
  EXPECT_EQ(Pushed(builder),
            "#0  pictures(columns=('image', 'label', 'path'))\n"
            "#1  project(#0, columns=('image', 'label'))\n"
            "#2  map(#1, workers=None)\n"
            "      label = Negate(label)\n"
            "#3  filter(#2, predicate=col(\"label\") < 5)\n"
            "#4  map(#3, workers=None)\n"
            "      image = Flip(image; name=None, probability=0.5, seed=None)  salt 8055669739214727032\n");
}

TEST(PushDown, AFilterThatMayFailOrWouldSavePythonStays) {
  GraphBuilder divides;
  divides.Add("pictures");
  divides.Add("map", {0});
  divides.Step("Flip", {"image"}, {"image"});
  divides.Add("filter", {1}, PredicatePushDown("label", "%"));
  EXPECT_EQ(Pushed(divides), GraphDump(divides.Canonical()));
  GraphBuilder python;
  python.Add("pictures");
  python.Add("map", {0});
  python.Step("Call", {"image"}, {"image"}, {{"function", ReferenceValue("f")}});
  python.Add("filter", {1}, PredicatePushDown("label"));
  EXPECT_EQ(Pushed(python), GraphDump(python.Canonical()));
}

TEST(PushDown, AFilterDoesNotPassWhatCountsRows) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("shuffle", {0}, WindowPushDown(4));
  builder.Add("filter", {1}, PredicatePushDown("label"));
  builder.Add("take", {2}, CountPushDown(2));
  EXPECT_EQ(Pushed(builder), GraphDump(builder.Canonical()));
}

TEST(PushDown, ProjectsBecomeOneAndKeepTheOrderOfColumns) {
  GraphBuilder builder;
  builder.Add("pictures", {}, ColumnsPushDown({"image", "label", "path", "big"}));
  builder.Add("rename", {0}, Mapping({{"image", "label"}, {"label", "image"}, {"big", "small"}}));
  builder.Add("project", {1}, ColumnsPushDown({"small", "label", "image"}));
  builder.Add("project", {2}, ColumnsPushDown({"image", "label"}));
  EXPECT_EQ(Pushed(builder),
            "#0  pictures(columns=('image', 'label', 'path', 'big'))\n"
            "#1  project(#0, columns=('label', 'image'))\n"
            "#2  rename(#1, mapping={'image': 'label', 'label': 'image'})\n");
}

TEST(PushDown, AProjectStaysAboveAMapThatAddsColumnsOrReadsMore) {
  GraphBuilder adds;
  adds.Add("pictures");
  adds.Add("map", {0});
  adds.Step("Flip", {"image"}, {"flipped"});
  adds.Add("project", {1}, ColumnsPushDown({"flipped", "image"}));
  EXPECT_EQ(Pushed(adds), GraphDump(adds.Canonical()));
  GraphBuilder reads;
  reads.Add("pictures", {}, ColumnsPushDown({"image", "label", "big"}));
  reads.Add("map", {0});
  reads.Step("Join", {"image", "big"}, {"image"});
  reads.Add("project", {1}, ColumnsPushDown({"image"}));
  EXPECT_EQ(Pushed(reads), GraphDump(reads.Canonical()));
}

TEST(PushDown, ARenameGoesThroughMapsAndNamesTheirColumns) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Flip", {"image"}, {"flipped"}).Step("Negate", {"label"}, {"label"});
  builder.Add("shuffle", {1}, WindowPushDown(4));
  builder.Add("rename", {2}, Mapping({{"flipped", "image"}, {"image", "whole"}}));
  builder.Add("rename", {3}, Mapping({{"image", "picture"}}));
  EXPECT_EQ(Pushed(builder),
            "#0  pictures(columns=None)\n"
            "#1  rename(#0, mapping={'image': 'whole'})\n"
            "#2  map(#1, workers=None)\n"
            "      picture = Flip(whole; name=None, probability=0.5, seed=None)  salt 8055669739214727032\n"
            "      label = Negate(label)\n"
            "#3  shuffle(#2, name=None, seed=None, window=4)  salt 12448176966133054717\n");
}

TEST(PushDown, LeavesWhatTwoUse) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("map", {0});
  builder.Step("Negate", {"value"}, {"value"});
  builder.Add("project", {1}, ColumnsPushDown({"value"}));
  builder.Add("project", {1}, ColumnsPushDown({"square"}));
  builder.Add("zip", {2, 3});
  EXPECT_EQ(Pushed(builder), GraphDump(builder.Canonical()));
}

}  // namespace
}  // namespace headrace::ir
