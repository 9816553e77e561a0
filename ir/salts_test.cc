#include "ir/salts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "ir/attributes.h"
#include "ir/canonical.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/testing/fake_ops.h"
#include "ir/validate.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

using ::testing::HasSubstr;

const proto::Step& StepOf(const proto::Graph& graph, int node, int step) { return graph.nodes(node).steps(step); }

// Random streams depend on it: it may not change from version to version.
TEST(Salt, IsTheSameInEveryVersion) {
  EXPECT_EQ(SaltOf("shuffle", "", 0), 12448176966133054717u);
  EXPECT_EQ(SaltOf("shuffle", "", 1), 3130117535924116733u);
  EXPECT_EQ(SaltOf("Flip", "", 0), 8055669739214727032u);
}

TEST(Salt, DiffersByNamePathAndOccurrence) {
  std::set<uint64_t> salts = {0, PinnedSalt("Flip"), PinnedSalt("Flip, too")};
  for (const std::string op : {"Flip", "Crop"}) {
    for (const std::string path : {"", "Apply", "Choice/1"}) {
      for (uint64_t occurrence = 0; occurrence < 3; ++occurrence) salts.insert(SaltOf(op, path, occurrence));
    }
  }
  EXPECT_EQ(salts.size(), 3u + 2 * 3 * 3);
}

TEST(Salt, CountsEqualsInputsFirst) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("shuffle", {0}, {{"window", IntValue(2)}});  // below the second input
  builder.Add("pictures");
  builder.Add("shuffle", {2}, {{"window", IntValue(2)}});  // below the first
  builder.Add("map", {3});
  builder.Step("Flip", {"image"}, {"image"});
  builder.Step("Flip", {"image"}, {"image"}).Step("Negate", {"label"}, {"label"});
  builder.Add("zip", {4, 1});
  const proto::Graph graph = builder.Canonical();
  EXPECT_EQ(graph.nodes(3).salt(), SaltOf("shuffle", "", 0));
  EXPECT_EQ(graph.nodes(1).salt(), SaltOf("shuffle", "", 1));
  EXPECT_EQ(StepOf(graph, 4, 0).salt(), SaltOf("Flip", "", 0));
  EXPECT_EQ(StepOf(graph, 4, 1).salt(), SaltOf("Flip", "", 1));
  EXPECT_EQ(StepOf(graph, 4, 2).salt(), 0u);
  EXPECT_EQ(graph.nodes(5).salt(), 0u);
}

int64_t NumberOf(const proto::Step& step) { return Attributes::Of(step).Int(kOccurrenceAttribute); }

TEST(Salt, NumbersTheStepsWithFunctions) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  for (int i = 0; i < 2; ++i) {
    builder.Step("Call", {"label"}, {"label"}, {{"function", ReferenceValue("train.py:f#0")}});
  }
  proto::Graph graph = builder.Canonical();
  EXPECT_EQ(NumberOf(StepOf(graph, 1, 0)), 0);
  EXPECT_EQ(NumberOf(StepOf(graph, 1, 1)), 1);

  // A step that is added before them takes the next number, a copy keeps that of its original, and functions of other
  // names are numbered apart.
  proto::Node& map = *graph.mutable_nodes(1);
  *map.add_steps() = map.steps(1);
  for (const char* function : {"train.py:f#1", "train.py:g#0"}) {
    proto::Step* const added = map.add_steps();
    *added = map.steps(0);
    for (proto::Attribute& attribute : *added->mutable_attributes()) {
      if (attribute.name() == kOccurrenceAttribute) attribute.mutable_value()->clear_kind();
      if (attribute.name() == "function") attribute.mutable_value()->mutable_reference()->set_name(function);
    }
  }
  map.mutable_steps()->SwapElements(0, 3);
  ASSERT_TRUE(Canonicalize(graph).ok());
  EXPECT_EQ(NumberOf(StepOf(graph, 1, 0)), 2);
  EXPECT_EQ(NumberOf(StepOf(graph, 1, 1)), 1);
  EXPECT_EQ(NumberOf(StepOf(graph, 1, 2)), 1);
  EXPECT_EQ(NumberOf(StepOf(graph, 1, 3)), 0);
  EXPECT_EQ(NumberOf(StepOf(graph, 1, 4)), 0);
}

// Each looks for its number after that of the one before.
TEST(Salt, NumbersAnyNumberOfStepsWithOneFunction) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  constexpr int kSteps = 100'000;
  for (int i = 0; i < kSteps; ++i) {
    builder.Step("Call", {"label"}, {"label"}, {{"function", ReferenceValue("train.py:f#0")}});
  }
  const proto::Graph graph = builder.Canonical();
  for (const int i : {0, 1, kSteps - 1}) EXPECT_EQ(NumberOf(StepOf(graph, 1, i)), i);
}

TEST(Salt, StaysIfOperatorsOfAnotherKindAreAdded) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Flip", {"image"}, {"image"});
  GraphBuilder more;
  more.Add("pictures");
  more.Add("shuffle", {0}, {{"window", IntValue(2)}});
  more.Add("map", {1});
  more.Step("Call", {"label"}, {"label"}, {{"function", ReferenceValue("f")}, {"random", BoolValue(true)}});
  more.Step("Flip", {"image"}, {"image"});
  EXPECT_EQ(StepOf(more.Canonical(), 2, 1).salt(), StepOf(builder.Canonical(), 1, 0).salt());
  EXPECT_NE(StepOf(more.Canonical(), 2, 0).salt(), 0u);
}

TEST(Salt, ThatIsGivenStays) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Flip", {"image"}, {"image"}).Step("Flip", {"image"}, {"image"});
  builder.graph().mutable_nodes(1)->mutable_steps(1)->set_salt(SaltOf("Flip", "", 0));
  const proto::Graph graph = builder.Canonical();
  EXPECT_EQ(StepOf(graph, 1, 0).salt(), SaltOf("Flip", "", 1)) << "the first is taken";
  EXPECT_EQ(StepOf(graph, 1, 1).salt(), SaltOf("Flip", "", 0));
}

TEST(Salt, OfAnUpperGraphKeepsTheLowers) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("shuffle", {0}, {{"window", IntValue(2)}});
  const proto::Graph lower = builder.Canonical();
  builder.Add("shuffle", {1}, {{"window", IntValue(3)}});
  const proto::Graph upper = builder.Canonical();
  EXPECT_EQ(upper.nodes(1).salt(), lower.nodes(1).salt());
  EXPECT_NE(upper.nodes(2).salt(), lower.nodes(1).salt());
}

TEST(Salt, IsOneForTheStepsOfAGroup) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Flip", {"image"}, {"image"}, {}, 1).Step("Flip", {"label"}, {"label"}, {}, 1);
  builder.Step("Flip", {"image"}, {"image"}, {}, 2).Step("Flip", {"label"}, {"label"}, {}, 2);
  const proto::Graph graph = builder.Canonical();
  EXPECT_EQ(StepOf(graph, 1, 0).salt(), SaltOf("Flip", "", 0));
  EXPECT_EQ(StepOf(graph, 1, 1).salt(), SaltOf("Flip", "", 0));
  EXPECT_EQ(StepOf(graph, 1, 2).salt(), SaltOf("Flip", "", 1));
  EXPECT_EQ(StepOf(graph, 1, 3).salt(), SaltOf("Flip", "", 1));
  EXPECT_EQ(StepOf(graph, 1, 0).group(), 0u);
}

using Given = GraphBuilder::Given;

Given Named(const std::string& name) { return {{"name", StringValue(name)}}; }

TEST(Salt, OfANameIsTheNames) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Flip", {"image"}, {"image"}).Step("Flip", {"image"}, {"image"}, Named("second"));
  builder.Step("Flip", {"image"}, {"image"});
  const proto::Graph graph = builder.Canonical();
  EXPECT_EQ(StepOf(graph, 1, 1).salt(), PinnedSalt("second"));
  EXPECT_EQ(StepOf(graph, 1, 2).salt(), SaltOf("Flip", "", 1)) << "a named one is not counted";
  EXPECT_TRUE(Validate(graph).ok()) << Validate(graph);
}

std::string RefusalOf(GraphBuilder& builder) { return std::string(Canonicalize(builder.graph()).message()); }

TEST(Salt, OfANameGivenTwiceIsRefused) {
  GraphBuilder apart;
  apart.Add("pictures");
  apart.Add("shuffle", {0}, {{"window", IntValue(2)}, {"name", StringValue("mine")}});
  apart.Add("map", {1});
  apart.Step("Flip", {"image"}, {"image"}, Named("mine"));
  EXPECT_THAT(RefusalOf(apart), HasSubstr("map Flip: has the name \"mine\", which shuffle (train.py:2) has, too"));
  GraphBuilder twice;
  twice.Add("pictures");
  twice.Add("map", {0});
  twice.Step("Flip", {"image"}, {"image"}, Named("mine")).Step("Flip", {"image"}, {"image"}, Named("mine"));
  EXPECT_THAT(RefusalOf(twice), HasSubstr("has the name"));
}

TEST(Salt, OfANameInALowerGraphIsRefusedAbove) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("shuffle", {0}, {{"window", IntValue(2)}, {"name", StringValue("mine")}});
  builder.graph() = builder.Canonical();
  EXPECT_EQ(RefusalOf(builder), "");
  builder.Add("shuffle", {1}, {{"window", IntValue(2)}, {"name", StringValue("mine")}});
  EXPECT_THAT(RefusalOf(builder), HasSubstr("which an operator below has, too"));
}

TEST(Salt, OfANamedKernelServesAllColumnsOfItsMap) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Flip", {"image"}, {"image"}, Named("flip"), 1).Step("Flip", {"label"}, {"label"}, Named("flip"), 1);
  const proto::Graph graph = builder.Canonical();
  EXPECT_EQ(StepOf(graph, 1, 0).salt(), PinnedSalt("flip"));
  EXPECT_EQ(StepOf(graph, 1, 1).salt(), PinnedSalt("flip"));
  builder.Step("Flip", {"image"}, {"image"}, Named("flip"), 2).Step("Flip", {"label"}, {"label"}, Named("flip"), 2);
  EXPECT_THAT(RefusalOf(builder), HasSubstr("has the name"));
}

}  // namespace
}  // namespace headrace::ir
