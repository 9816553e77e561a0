#include "ir/classes/column_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ir/graph.pb.h"
#include "ir/testing/fake_ops.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

const ColumnClasses kLabels = {.names = 0};
const ColumnClasses kColors = {.names = 1};

ColumnClasses ChangedBy(const std::string& kernel) { return {.changed_by = kernel}; }

// A map over columns, of which `label` and `again` have labels of one list of classes, and `color` those of another.
GraphBuilder MapOfLabels() {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  return builder;
}

ClassesByColumn After(GraphBuilder& builder, ClassesByColumn classes = {{"label", kLabels}}) {
  for (const proto::Step& step : builder.graph().nodes(1).steps()) FollowClasses(step, classes);
  return classes;
}

GraphBuilder::Given By(const std::string& interpolation) {
  return {{"size", IntValue(8)}, {"interpolation", StringValue(interpolation)}};
}

TEST(ColumnClassesTest, StayInWhatIsReadOrMovedAsItIs) {
  GraphBuilder builder = MapOfLabels();
  builder.Step("Fetch", {"label"}, {"mask"}).Step("Resize", {"mask"}, {"mask"}, By("nearest"));
  EXPECT_THAT(After(builder), UnorderedElementsAre(Pair("label", kLabels), Pair("mask", kLabels)));
}

TEST(ColumnClassesTest, AreChangedWherePixelsAreMixed) {
  GraphBuilder given = MapOfLabels();
  given.Step("Resize", {"label"}, {"label"}, By("bicubic"));
  EXPECT_THAT(After(given), UnorderedElementsAre(Pair("label", ChangedBy("Resize"))));
  GraphBuilder by_default = MapOfLabels();
  by_default.Step("Resize", {"label"}, {"label"}, {{"size", IntValue(8)}});
  EXPECT_THAT(After(by_default), UnorderedElementsAre(Pair("label", ChangedBy("Resize"))));
}

TEST(ColumnClassesTest, StayInTypesThatHoldAllLabels) {
  ASSERT_TRUE(Registry::Global()
                  .Register({.name = "Convert",
                             .attributes = {{.name = "dtype", .type = AttributeType::kDType, .doc = "The type."}},
                             .traits = {.casts = true}})
                  .ok());
  const auto after = [](const std::string& type, int64_t greatest) {
    GraphBuilder builder = MapOfLabels();
    builder.Step("Convert", {"label"}, {"label"}, {{"dtype", StringValue(type)}});
    const ColumnClasses label = After(builder, {{"label", {.names = 0, .greatest = greatest}}}).at("label");
    EXPECT_THAT(label, testing::AnyOf(ColumnClasses{.names = 0, .greatest = greatest}, ChangedBy("Convert")));
    return label.names == 0;
  };
  EXPECT_FALSE(after("bool", 0));
  EXPECT_TRUE(after("int8", 127));
  EXPECT_FALSE(after("int8", 128));
  EXPECT_TRUE(after("uint8", 255));
  EXPECT_FALSE(after("uint8", 256));
  EXPECT_TRUE(after("bfloat16", 256));
  EXPECT_FALSE(after("bfloat16", 257));
  EXPECT_TRUE(after("float16", 2048));
  EXPECT_FALSE(after("float16", 2049));
  EXPECT_TRUE(after("float32", 1 << 24));
  EXPECT_TRUE(after("int64", int64_t{1} << 60));
}

TEST(ColumnClassesTest, AreChangedByOtherKernelsAndThoseThatAreNotKnown) {
  GraphBuilder builder = MapOfLabels();
  builder.Step("Negate", {"label"}, {"label"}).Step("Absent", {"again"}, {"again"}).Step("Negate", {"color"}, {"new"});
  EXPECT_THAT(After(builder, {{"label", kLabels}, {"again", kLabels}, {"color", kColors}}),
              UnorderedElementsAre(Pair("label", ChangedBy("Negate")), Pair("again", ChangedBy("Absent")),
                                   Pair("color", kColors)));
}

TEST(ColumnClassesTest, OfSeveralInputsAreThoseOfTheOneThatHasSome) {
  GraphBuilder builder = MapOfLabels();
  builder.Step("Beside", {"image", "label"}, {"mask"});
  builder.Step("Beside", {"label", "image", "again"}, {"image"});
  builder.Step("Beside", {"label", "color"}, {"path"});
  EXPECT_THAT(After(builder, {{"label", kLabels}, {"again", kLabels}, {"color", kColors}, {"path", kColors}}),
              UnorderedElementsAre(Pair("label", kLabels), Pair("again", kLabels), Pair("color", kColors),
                                   Pair("mask", kLabels), Pair("image", kLabels), Pair("path", ChangedBy("Beside"))));
}

TEST(ColumnClassesTest, OfAnyNumberOfInputsAreThoseThatAllHave) {
  GraphBuilder builder = MapOfLabels();
  builder.Step("Pile", {"label"}, {"one"}).Step("Pile", {"label", "again"}, {"two"});
  builder.Step("Pile", {"label", "color"}, {"three"}).Step("Pile", {"label", "image"}, {"label"});
  EXPECT_THAT(After(builder, {{"label", kLabels}, {"again", kLabels}, {"color", kColors}}),
              UnorderedElementsAre(Pair("label", ChangedBy("Pile")), Pair("again", kLabels), Pair("color", kColors),
                                   Pair("one", kLabels), Pair("two", kLabels)));
}

TEST(ColumnClassesTest, OfPairsAreThoseOfEachInput) {
  GraphBuilder builder = MapOfLabels();
  builder.Step("Beside", {"label", "color"}, {"color", "label"});
  EXPECT_THAT(After(builder, {{"label", kLabels}, {"color", kColors}}),
              UnorderedElementsAre(Pair("label", kColors), Pair("color", kLabels)));
}

TEST(ColumnClassesTest, StayWhereEachBranchKeepsThem) {
  GraphBuilder builder = MapOfLabels();
  builder.Step("Either", {"label"}, {"mask"});
  builder.Branch().Step("Resize", {"mask"}, {"mask"}, By("nearest")).End();
  builder.Branch().Step("Perhaps", {"mask"}, {"mask"}).Branch().Step("Fetch", {"mask"}, {"mask"}).End().End();
  EXPECT_THAT(After(builder), UnorderedElementsAre(Pair("label", kLabels), Pair("mask", kLabels)));
  builder.Step("Perhaps", {"label"}, {"label"}).Branch().Step("Negate", {"label"}, {"label"}).End();
  EXPECT_THAT(After(builder), UnorderedElementsAre(Pair("label", ChangedBy("Negate")), Pair("mask", kLabels)));
}

TEST(ColumnClassesTest, OfABranchAloneAreNotThoseOfTheColumn) {
  GraphBuilder builder = MapOfLabels();
  builder.Step("Perhaps", {"label", "image"}, {"label", "image"});
  builder.Branch().Step("Fetch", {"label"}, {"image"}).End();
  EXPECT_THAT(After(builder), UnorderedElementsAre(Pair("label", kLabels), Pair("image", ChangedBy("Perhaps"))));
}

}  // namespace
}  // namespace headrace::ir
