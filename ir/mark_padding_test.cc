#include "ir/mark_padding.h"

#include <gtest/gtest.h>

#include "ir/declaration.h"
#include "ir/dump.h"
#include "ir/graph.pb.h"
#include "ir/testing/fake_ops.h"

namespace headrace::ir {
namespace {

// Declares `mark`, an operator that can make the column.
void DeclareMark() {
  if (Registry::Global().Find("mark") != nullptr) return;
  Declaration mark;
  mark.name = "mark";
  mark.role = Role::kStream;
  mark.attributes = {
      {.name = "mark_padding", .type = AttributeType::kBool, .doc = "Whether.", .default_value = "False"}};
  mark.infer = PassesSchema();
  RequireRegistered(Registry::Global().Register(mark));
}

class MarkPaddingTest : public ::testing::Test {
 protected:
  MarkPaddingTest() { DeclareMark(); }

  uint32_t Project(uint32_t input, std::vector<std::string> columns) {
    return builder_.Add("project", {input}, {{"columns", StringsValue(columns)}});
  }
  std::string Marked() const {
    proto::Graph graph = builder_.Canonical();
    EXPECT_TRUE(MarkPadding(graph).ok());
    return GraphDump(graph);
  }

  GraphBuilder builder_;
};

TEST_F(MarkPaddingTest, TheFirstOperatorThatCanMarks) {
  builder_.Add("pictures");
  builder_.Add("shuffle", {0}, {{"window", IntValue(4)}});
  builder_.Add("mark", {1});
  builder_.Add("take", {2}, {{"count", IntValue(3)}});
  builder_.Add("mark", {3});
  EXPECT_EQ(Marked(),
            "#0  pictures(columns=None)\n"
            "#1  shuffle(#0, name=None, seed=None, window=4)  salt 12448176966133054717\n"
            "#2  mark(#1, mark_padding=True)\n"
            "#3  take(#2, count=3)\n"
            "#4  mark(#3, mark_padding=False)\n");
}

TEST_F(MarkPaddingTest, NothingChangesWhereNoneCan) {
  builder_.Add("pictures");
  Project(0, {"label"});
  builder_.Add("batch", {1}, {{"size", IntValue(2)}});
  EXPECT_EQ(Marked(), GraphDump(builder_.Canonical()));
}

TEST_F(MarkPaddingTest, ProjectionsAboveKeepTheColumn) {
  builder_.Add("pictures");
  Project(0, {"label", "image"});
  builder_.Add("mark", {1});
  Project(2, {"label"});
  Project(3, {"label"});
  EXPECT_EQ(Marked(),
            "#0  pictures(columns=None)\n"
            "#1  project(#0, columns=('label', 'image'))\n"
            "#2  mark(#1, mark_padding=True)\n"
            "#3  project(#2, columns=('label', '_pad'))\n"
            "#4  project(#3, columns=('label', '_pad'))\n");
}

TEST_F(MarkPaddingTest, MapsAndRenamesStayAsTheyAre) {
  builder_.Add("pictures");
  builder_.Add("mark", {0});
  builder_.Add("map", {1});
  builder_.Step("Negate", {"image"}, {"image"});
  builder_.Add("rename", {2}, {{"mapping", PairsValue({{"label", "class"}})}});
  Project(3, {"class"});
  EXPECT_EQ(Marked(),
            "#0  pictures(columns=None)\n"
            "#1  mark(#0, mark_padding=True)\n"
            "#2  map(#1, workers=None)\n"
            "      image = Negate(image)\n"
            "#3  rename(#2, mapping={'label': 'class'})\n"
            "#4  project(#3, columns=('class', '_pad'))\n");
}

TEST_F(MarkPaddingTest, SideBySideTheFirstInputMarks) {
  builder_.Add("pictures");
  builder_.Add("mark", {0});
  builder_.Add("numbers");
  builder_.Add("mark", {2});
  Project(3, {"value"});
  builder_.Add("zip", {1, 4});
  Project(5, {"label", "value"});
  EXPECT_EQ(Marked(),
            "#0  pictures(columns=None)\n"
            "#1  mark(#0, mark_padding=True)\n"
            "#2  numbers(stop=10)\n"
            "#3  mark(#2, mark_padding=False)\n"
            "#4  project(#3, columns=('value',))\n"
            "#5  zip(#1, #4)\n"
            "#6  project(#5, columns=('label', 'value', '_pad'))\n");
}

TEST_F(MarkPaddingTest, SideBySideTheMarkComesAboveWhereTheFirstInputHasNone) {
  builder_.Add("pictures");
  builder_.Add("numbers");
  builder_.Add("mark", {1});
  builder_.Add("zip", {0, 2});
  builder_.Add("mark", {3});
  EXPECT_EQ(Marked(),
            "#0  pictures(columns=None)\n"
            "#1  numbers(stop=10)\n"
            "#2  mark(#1, mark_padding=False)\n"
            "#3  zip(#0, #2)\n"
            "#4  mark(#3, mark_padding=True)\n");
}

TEST_F(MarkPaddingTest, SideBySideTheOtherInputsHaveNoColumnWhereTheyAreTheFirst) {
  builder_.Add("numbers");
  builder_.Add("shuffle", {0}, {{"window", IntValue(4)}});
  builder_.Add("mark", {1});
  Project(2, {"value"});
  builder_.Add("rename", {3}, {{"mapping", PairsValue({{"value", "again"}})}});
  builder_.Add("zip", {3, 4});
  EXPECT_EQ(Marked(),
            "#0  numbers(stop=10)\n"
            "#1  shuffle(#0, name=None, seed=None, window=4)  salt 12448176966133054717\n"
            "#2  mark(#1, mark_padding=False)\n"
            "#3  mark(#1, mark_padding=True)\n"
            "#4  project(#2, columns=('value',))\n"
            "#5  project(#3, columns=('value', '_pad'))\n"
            "#6  rename(#4, mapping={'value': 'again'})\n"
            "#7  zip(#5, #6)\n");
}

TEST_F(MarkPaddingTest, OneAfterTheOtherEachInputMarks) {
  builder_.Add("numbers");
  builder_.Add("mark", {0});
  builder_.Add("numbers");
  builder_.Add("mark", {2});
  builder_.Add("same", {1, 3});
  EXPECT_EQ(Marked(),
            "#0  numbers(stop=10)\n"
            "#1  mark(#0, mark_padding=True)\n"
            "#2  numbers(stop=10)\n"
            "#3  mark(#2, mark_padding=True)\n"
            "#4  same(#1, #3)\n");
}

TEST_F(MarkPaddingTest, AProjectionThatIsUsedTwiceNamesTheColumnOnce) {
  builder_.Add("numbers");
  builder_.Add("mark", {0});
  Project(1, {"value"});
  builder_.Add("same", {2, 2});
  EXPECT_EQ(Marked(),
            "#0  numbers(stop=10)\n"
            "#1  mark(#0, mark_padding=True)\n"
            "#2  project(#1, columns=('value', '_pad'))\n"
            "#3  same(#2, #2)\n");
}

}  // namespace
}  // namespace headrace::ir
