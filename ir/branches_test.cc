// Choosers and the steps in their branches: what is refused, which types follow, which salts they get, how they are
// written.
#include "ir/branches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ir/canonical.h"
#include "ir/dump.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/graph_hash.h"
#include "ir/infer.h"
#include "ir/passes.h"
#include "ir/passes/inline_branches.h"
#include "ir/salts.h"
#include "ir/testing/fake_ops.h"
#include "ir/validate.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

using ::testing::HasSubstr;

GraphBuilder Images() {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  return builder;
}

GraphBuilder::Given SizeBranches(int64_t size) { return {{"size", IntValue(size)}}; }

std::string MistakesOf(const GraphBuilder& builder) { return std::string(Validate(builder.Canonical()).message()); }

ColumnType ImageOf(const GraphBuilder& builder) { return ResultSchema(builder.Canonical())->Find("image")->type; }

const proto::Step& Nested(const proto::Step& step, int branch, int at = 0) { return step.branches(branch).steps(at); }

TEST(Branches, KeepWhatIsTrueOfAllRows) {
  GraphBuilder equal = Images();
  equal.Step("Either", {"image"}, {"image"});
  equal.Branch().Step("Resize", {"image"}, {"image"}, SizeBranches(8)).End();
  equal.Branch().Step("Negate", {"image"}, {"image"}).Step("Resize", {"image"}, {"image"}, SizeBranches(8)).End();
  EXPECT_EQ(TypeName(ImageOf(equal)), "uint8 (8, 8, 3)");
  GraphBuilder other = Images();
  other.Step("Either", {"image"}, {"image"});
  other.Branch().Step("Resize", {"image"}, {"image"}, SizeBranches(8)).End();
  other.Branch().Step("Resize", {"image"}, {"image"}, {{"size", IntsValue({8, 9})}}).End();
  EXPECT_EQ(TypeName(ImageOf(other)), "uint8 (8, None, 3)");
}

TEST(Branches, ThatNoRowGoesThroughChangeNoType) {
  const auto perhaps = [](double p) {
    GraphBuilder builder = Images();
    builder.Step("Resize", {"image"}, {"image"}, SizeBranches(4));
    builder.Step("Perhaps", {"image"}, {"image"}, {{"p", FloatValue(p)}});
    builder.Branch().Step("Resize", {"image"}, {"image"}, SizeBranches(8)).End();
    return TypeName(ImageOf(builder));
  };
  EXPECT_EQ(perhaps(0), "uint8 (4, 4, 3)");
  EXPECT_EQ(perhaps(0.5), "uint8 (None, None, 3)");
  EXPECT_EQ(perhaps(1), "uint8 (8, 8, 3)");
}

// Any of them may come before another.
TEST(Branches, InAnyOrderBeginWithWhatOthersLeave) {
  GraphBuilder builder = Images();
  builder.Step("Resize", {"image"}, {"image"}, SizeBranches(4));
  builder.Step("AnyOrder", {"image"}, {"image"});
  builder.Branch().Step("Resize", {"image"}, {"image"}, {{"size", IntsValue({4, 9})}}).End();
  builder.Branch().Step("Negate", {"image"}, {"image"}).End();
  EXPECT_EQ(TypeName(ImageOf(builder)), "uint8 (4, None, 3)");
  GraphBuilder typed;
  typed.Add("encoded");
  typed.Add("map", {0});
  typed.Step("AnyOrder", {"image"}, {"image"});
  typed.Branch().Step("Decode", {"image"}, {"image"}).End();
  typed.Branch().Step("Negate", {"image"}, {"image"}).End();
  EXPECT_THAT(MistakesOf(typed), HasSubstr("map AnyOrder: column \"image\" is bytes () before, and uint8"));
}

TEST(Branches, ThatDisagreeInTypesAreRefused) {
  GraphBuilder builder;
  builder.Add("encoded");
  builder.Add("map", {0});
  builder.Step("Either", {"image"}, {"image"});
  builder.Branch().Step("Negate", {"image"}, {"image"}).End();
  builder.Branch().Step("Decode", {"image"}, {"image"}).Step("Negate", {"image"}, {"image"}).End();
  EXPECT_THAT(MistakesOf(builder), HasSubstr("train.py:3  map Either: column \"image\" is bytes () after Negate, and "
                                             "uint8 (None, None, 3) after Decode, Negate"));
}

TEST(Branches, MistakesNameTheStepAndItsLine) {
  GraphBuilder builder = Images();
  builder.Step("Perhaps", {"image"}, {"image"}, {{"p", FloatValue(2)}});
  builder.Branch().Step("Flip", {"image"}, {"image"}, {{"probability", FloatValue(7)}});
  builder.Step("Flipp", {"label"}, {"label"});
  builder.Step("Call", {"image"}, {"image"}, {{"function", ReferenceValue("f")}}).End();
  const std::string mistakes = MistakesOf(builder);
  EXPECT_THAT(mistakes, HasSubstr("train.py:3  map Perhaps: p is 2"));
  EXPECT_THAT(mistakes, HasSubstr("train.py:4  map Flip in Perhaps: probability is 7"));
  EXPECT_THAT(mistakes, HasSubstr("train.py:5  map Flipp in Perhaps: there is no such kernel"));
  EXPECT_THAT(mistakes, HasSubstr("map Flipp in Perhaps: uses column \"label\", which is not a column of Perhaps"));
  EXPECT_THAT(mistakes, HasSubstr("train.py:6  map Call in Perhaps: calls Python"));
}

TEST(Branches, BelongToChoosersAndAreNotEmpty) {
  GraphBuilder none = Images();
  none.Step("Either", {"image"}, {"image"});
  EXPECT_THAT(MistakesOf(none), HasSubstr("map Either: has no kernels to apply"));
  GraphBuilder empty = Images();
  empty.Step("Either", {"image"}, {"image"}).Branch().End();
  EXPECT_THAT(MistakesOf(empty), HasSubstr("map Either: one of its lists of kernels is empty"));
  GraphBuilder other = Images();
  other.Step("Negate", {"image"}, {"image"}).Branch().Step("Negate", {"image"}, {"image"}).End();
  EXPECT_THAT(MistakesOf(other), HasSubstr("map Negate: has branches"));
  GraphBuilder two = Images();
  two.Step("Perhaps", {"image"}, {"image"});
  for (int i = 0; i < 2; ++i) two.Branch().Step("Negate", {"image"}, {"image"}).End();
  EXPECT_THAT(MistakesOf(two), HasSubstr("map Perhaps: has one branch, not 2"));
  GraphBuilder fewer = Images();
  fewer.Step("Either", {"image", "label"}, {"image"}).Branch().Step("Negate", {"image"}, {"image"}).End();
  EXPECT_THAT(MistakesOf(fewer), HasSubstr("map Either: gives as many columns as it takes"));
}

// A graph with choosers nested so deep.
proto::Graph Deep(int depth) {
  proto::Graph graph = Images().graph();
  proto::Step* step = graph.mutable_nodes(1)->add_steps();
  for (int i = 0; i <= depth; ++i) {
    step->set_kernel(i < depth ? "Perhaps" : "Negate");
    step->add_inputs("image");
    step->add_outputs("image");
    if (i < depth) step = step->add_branches()->add_steps();
  }
  return graph;
}

TEST(Branches, AreNotNestedWithoutBound) {
  proto::Graph deepest = Deep(kDeepestChoosers);
  ASSERT_TRUE(Canonicalize(deepest).ok());
  EXPECT_TRUE(Validate(deepest).ok());
  EXPECT_TRUE(ParseGraph(SerializeGraph(deepest)).ok());
  for (const int depth : {kDeepestChoosers + 1, 290, 2000}) {
    proto::Graph deeper = Deep(depth);
    EXPECT_FALSE(ParseGraph(SerializeGraph(deeper)).ok()) << depth;
    if (depth > 1000) continue;  // no parser gives it
    EXPECT_THAT(std::string(Canonicalize(deeper).message()), HasSubstr("choosers are nested more than 8 deep"));
  }
}

// Each level follows its branches twice.
TEST(Branches, InAnyOrderMayBeNested) {
  GraphBuilder builder = Images();
  for (int depth = 0; depth < kDeepestChoosers; ++depth) {
    builder.Step("AnyOrder", {"image"}, {"image"});
    builder.Branch().Step("Resize", {"image"}, {"image"}, SizeBranches(depth + 1)).End().Branch();
  }
  builder.Step("Negate", {"image"}, {"image"});
  for (int depth = 0; depth < kDeepestChoosers; ++depth) builder.End();
  EXPECT_EQ(TypeName(ImageOf(builder)), "uint8 (None, None, 3)");
  EXPECT_EQ(MistakesOf(builder), "");
  EXPECT_TRUE(Optimize(builder.Canonical()).ok());
}

TEST(Branches, SurviveEveryWrittenForm) {
  const proto::Graph graph = Deep(3);
  for (const auto& again :
       {ParseGraph(SerializeGraph(graph)), ParseGraphText(GraphToText(graph)), ParseGraphJson(GraphToJson(graph))}) {
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(SerializeGraph(*again), SerializeGraph(graph));
  }
  std::string damaged = GraphToJson(graph);
  damaged.replace(damaged.find("\"Negate\""), 8, "\"Negate\", \"unheard_of\": 3");
  EXPECT_THAT(std::string(ParseGraphJson(damaged).status().message()), HasSubstr("unheard_of"));
}

TEST(Branches, AreCanonicalAndHashedAsSteps) {
  GraphBuilder builder = Images();
  builder.Step("Perhaps", {"image"}, {"image"}).Branch().Step("Flip", {"image"}, {"image"}, {}, 3).End();
  proto::Graph graph = builder.Canonical();
  proto::Step& nested = *graph.mutable_nodes(1)->mutable_steps(0)->mutable_branches(0)->mutable_steps(0);
  EXPECT_EQ(nested.attributes_size(), 3) << "defaults are written out";
  EXPECT_EQ(nested.group(), 0u);
  EXPECT_EQ(nested.version(), 1u);
  const std::string hash = HashText(UserGraphHash(graph));
  nested.mutable_location()->set_line(99);
  nested.set_fused(4);
  nested.set_user_node(4);
  EXPECT_EQ(HashText(UserGraphHash(graph)), hash);
  nested.set_kernel("Negate");
  EXPECT_NE(HashText(UserGraphHash(graph)), hash);
}

TEST(Branches, GetSaltsByTheirPath) {
  GraphBuilder builder = Images();
  builder.Step("Flip", {"image"}, {"image"});
  builder.Step("Either", {"image"}, {"image"});
  builder.Branch().Step("Flip", {"image"}, {"image"}).End();
  builder.Branch().Step("Perhaps", {"image"}, {"image"}).Branch().Step("Flip", {"image"}, {"image"}).End();
  builder.Step("Flip", {"image"}, {"image"}).End();
  builder.Step("Perhaps", {"image"}, {"image"}, {{"name", StringValue("mine")}});
  builder.Branch().Step("Flip", {"image"}, {"image"}).End();
  builder.Step("Flip", {"image"}, {"image"});
  const proto::Graph graph = builder.Canonical();
  const auto& steps = graph.nodes(1).steps();
  EXPECT_EQ(steps[0].salt(), SaltOf("Flip", "", 0));
  EXPECT_EQ(steps[1].salt(), SaltOf("Either", "", 0));
  EXPECT_EQ(Nested(steps[1], 0).salt(), SaltOf("Flip", "Either", 0));
  EXPECT_EQ(Nested(steps[1], 1).salt(), SaltOf("Perhaps", "Either", 0));
  EXPECT_EQ(Nested(Nested(steps[1], 1), 0).salt(), SaltOf("Flip", "Either/Perhaps", 0));
  EXPECT_EQ(Nested(steps[1], 1, 1).salt(), SaltOf("Flip", "Either", 1));
  EXPECT_EQ(steps[2].salt(), PinnedSalt("mine"));
  EXPECT_EQ(Nested(steps[2], 0).salt(), SaltOf("Flip", "Perhaps=mine", 0));
  EXPECT_EQ(steps[3].salt(), SaltOf("Flip", "", 1));
}

TEST(Branches, OfOneGroupGetOneSalt) {
  GraphBuilder builder = Images();
  for (const char* column : {"image", "label"}) {
    builder.Step("Perhaps", {column}, {column}, {}, 1).Branch().Step("Flip", {column}, {column}, {}, 2).End();
  }
  const proto::Graph graph = builder.Canonical();
  const auto& steps = graph.nodes(1).steps();
  EXPECT_EQ(steps[0].salt(), steps[1].salt());
  EXPECT_EQ(Nested(steps[0], 0).salt(), Nested(steps[1], 0).salt());
  EXPECT_NE(steps[0].salt(), Nested(steps[0], 0).salt());
}

TEST(Branches, WithANameGivenTwiceAreRefused) {
  GraphBuilder builder = Images();
  builder.Step("Flip", {"image"}, {"image"}, {{"name", StringValue("mine")}});
  builder.Step("Perhaps", {"image"}, {"image"});
  builder.Branch().Step("Flip", {"image"}, {"image"}, {{"name", StringValue("mine")}}).End();
  proto::Graph graph = builder.graph();
  EXPECT_THAT(std::string(Canonicalize(graph).message()), HasSubstr("map Flip in Perhaps: has the name \"mine\""));
}

TEST(Branches, AreShownBelowTheirChooser) {
  GraphBuilder builder = Images();
  builder.Step("Perhaps", {"image"}, {"image"}).Branch().Step("Negate", {"image"}, {"image"}).End();
  builder.Step("Either", {"image"}, {"image"});
  for (int i = 0; i < 2; ++i) builder.Branch().Step("Negate", {"image"}, {"image"}).End();
  const std::string dump = GraphDump(builder.Canonical());
  EXPECT_THAT(dump, HasSubstr("      image = Perhaps(image; "));
  EXPECT_THAT(dump, HasSubstr("\n        image = Negate(image)\n      image = Either(image; "));
  EXPECT_THAT(dump, HasSubstr("\n        branch 1:\n          image = Negate(image)\n        branch 2:\n"));
  EXPECT_THAT(ToDot(builder.Canonical()), HasSubstr("branch 2:"));
}

TEST(InlineBranches, LeavesWhatIsDrawn) {
  GraphBuilder builder = Images();
  const auto add = [&](double p) {
    builder.Step("Perhaps", {"image"}, {"image"}, {{"p", FloatValue(p)}});
    builder.Branch().Step("Flip", {"image"}, {"image"}).End();
  };
  add(0);
  add(1);
  add(0.5);
  builder.Step("Either", {"image"}, {"image"}).Branch().Step("Negate", {"image"}, {"image"}).End();
  const proto::Graph graph = builder.Canonical();
  const proto::Graph inlined = *InlineBranches(graph);
  const auto& steps = inlined.nodes(1).steps();
  ASSERT_EQ(steps.size(), 3);
  EXPECT_EQ(steps[0].kernel(), "Flip");
  EXPECT_EQ(steps[0].salt(), Nested(graph.nodes(1).steps(1), 0).salt());
  EXPECT_EQ(steps[1].kernel(), "Perhaps");
  EXPECT_EQ(steps[2].kernel(), "Negate");
  EXPECT_EQ(*ResultSchema(inlined), *ResultSchema(graph));
}

TEST(InlineBranches, KeepsAChooserThatNamesColumns) {
  GraphBuilder builder = Images();
  builder.Step("Perhaps", {"image"}, {"copy"}, {{"p", FloatValue(0)}});
  builder.Branch().Step("Negate", {"copy"}, {"copy"}).End();
  EXPECT_EQ(InlineBranches(builder.Canonical())->nodes(1).steps_size(), 1);
}

}  // namespace
}  // namespace headrace::ir
