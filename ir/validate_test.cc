#include "ir/validate.h"

#include <gtest/gtest.h>

#include "ir/expression.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/infer.h"
#include "ir/testing/fake_ops.h"

namespace headrace::ir {
namespace {

std::vector<std::string> Messages(const GraphBuilder& builder) {
  std::vector<std::string> messages;
  for (const Mistake& mistake : FindMistakes(builder.Canonical()))
    messages.push_back(mistake.op + ": " + mistake.message);
  return messages;
}

using List = std::vector<std::string>;

TEST(Validate, SaysEveryMistakeAtOnce) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Resize", {"imge"}, {"imge"}, {{"size", IntValue(8)}});
  builder.Step("Rezise", {"image"}, {"image"});
  builder.Step("Flip", {"image"}, {"image"}, {{"probability", FloatValue(1.5)}, {"probabilty", IntValue(1)}});
  builder.Step("Negate", {"lable"}, {"label"});
  builder.Add("batch", {1}, {{"size", IntValue(0)}});
  const absl::Status status = Validate(builder.Canonical());
  EXPECT_EQ(KindOf(status), ErrorKind::kGraph);
  EXPECT_EQ(
      status.message(),
      "6 mistakes in the pipeline:\n"
      "  train.py:3  map Resize: no column \"imge\"; did you mean \"image\"? (columns: image, label)\n"
      "  train.py:4  map Rezise: there is no such kernel; did you mean \"Resize\"?\n"
      "  train.py:5  map Flip: probability is 1.5; it must be at most 1\n"
      "  train.py:5  map Flip: no attribute \"probabilty\"; did you mean \"probability\"? (it has probability, seed, "
      "name)\n"
      "  train.py:6  map Negate: no column \"lable\"; did you mean \"label\"? (columns: image, label, imge)\n"
      "  train.py:7  batch: size is 0; it must be at least 1");
}

// Each of them costs a look at all names that there are.
TEST(Validate, EndsAfterAThousandMistakes) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  for (int i = 0; i < 3000; ++i) builder.Step("Rezise", {"image"}, {"image"});
  EXPECT_EQ(Messages(builder).size(), 1000u);
}

TEST(Validate, RefusesMoreColumnsThanThereIsMemoryFor) {
  GraphBuilder builder;
  builder.Add("pictures");
  uint32_t top = builder.Add("map", {0});
  for (int i = 0; i < 20'000; ++i) builder.Step("Negate", {"label"}, {"c" + std::to_string(i)});
  for (int i = 0; i < 60; ++i) top = builder.Add("take", {top}, {{"count", IntValue(9)}});
  EXPECT_EQ(Messages(builder), List{"take: all operators up to this one give more than 1048576 columns"});
}

TEST(Validate, FindsNothingInAGoodGraph) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("batch", {0}, {{"size", IntValue(2)}});
  EXPECT_TRUE(Validate(builder.Canonical()).ok()) << Validate(builder.Canonical());
}

TEST(Validate, KnowsTheNamesOfOperators) {
  GraphBuilder builder;
  builder.Add("picturs");
  builder.Add("bacth", {0});
  builder.Add("Resize", {1});
  EXPECT_EQ(Messages(builder),
            (List{"picturs: there is no such operator; did you mean \"pictures\"?",
                  "bacth: there is no such operator; did you mean \"batch\"?", "Resize: there is no such operator"}));
}

TEST(Validate, AsksForWhatHasNoDefault) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("batch", {0});
  EXPECT_EQ(Messages(builder), List{"batch: size is missing"});
}

TEST(Validate, ProposesAPairForTwoNumbers) {
  const auto resized = [](proto::Value size, proto::Value interpolation) {
    GraphBuilder builder;
    builder.Add("pictures");
    builder.Add("map", {0});
    builder.Step("Resize", {"image"}, {"image"},
                 {{"size", std::move(size)}, {"interpolation", std::move(interpolation)}});
    return Messages(builder);
  };
  const std::string wrong = "map Resize: interpolation is 256; it must be a text";
  EXPECT_EQ(resized(IntValue(224), IntValue(256)),
            List{wrong + " (for a size of two numbers write Resize((224, 256)))"});
  EXPECT_EQ(resized(IntsValue({224, 100}), IntValue(256)), List{wrong});
  EXPECT_EQ(resized(IntValue(224), FloatValue(0.5)), List{"map Resize: interpolation is 0.5; it must be a text"});
  EXPECT_EQ(resized(IntValue(224), StringValue("area")).size(), 1u);
}

TEST(Validate, CountsInputs) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("zip", {0});
  builder.Add("map", {1});
  builder.Step("Join", {"image"}, {"image"}).Step("Negate", {"image", "label"}, {"image"});
  builder.Add("batch", {}, {{"size", IntValue(1)}});
  builder.Add("zip", {2, 3});
  EXPECT_EQ(Messages(builder),
            (List{"zip: has 1 inputs; it takes at least 2", "map Join: has 1 input columns; it takes 2 to 3",
                  "map Negate: has 2 input columns; it takes 1", "batch: has 0 inputs; it takes 1"}));
}

TEST(Validate, RefusesInputsThatDoNotComeFirst) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("batch", {1}, {{"size", IntValue(1)}});
  EXPECT_EQ(Messages(builder), (List{"pictures: its rows go nowhere: the result does not use it",
                                     "batch: is node 1 and has node 1 as input; inputs must come first"}));
}

TEST(Validate, RefusesGraphsThatAreTooDeep) {
  const auto chain = [](int operators) {
    GraphBuilder builder;
    uint32_t top = builder.Add("numbers");
    for (int i = 1; i < operators; ++i) top = builder.Add("take", {top}, {{"count", IntValue(9)}});
    return builder;
  };
  GraphBuilder deepest = chain(kDeepestGraph);
  EXPECT_EQ(Messages(deepest), List{});
  GraphBuilder deeper = chain(kDeepestGraph + 1);
  EXPECT_EQ(Messages(deeper), List{": it is 1001 operators deep; at most 1000 are allowed"});
}

TEST(Validate, RefusesOperatorsThatNothingUses) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("pictures");
  EXPECT_EQ(Messages(builder), List{"numbers: its rows go nowhere: the result does not use it"});
}

TEST(Validate, RefusesAnEmptyGraphAndAnotherFormat) {
  GraphBuilder builder;
  EXPECT_EQ(Messages(builder), List{": the graph has no operators"});
  proto::Graph graph;
  graph.set_format(3);
  graph.add_nodes()->set_op("numbers");
  EXPECT_EQ(FindMistakes(graph)[0].message, "the graph has format 3, not 2");
}

TEST(Validate, RefusesATreeThatGrowsWithoutBounds) {
  GraphBuilder builder;
  builder.Add("numbers");
  for (uint32_t i = 0; i < 60; ++i) builder.Add("zip", {i, i});
  EXPECT_EQ(Messages(builder)[0], ": it runs as a tree of more than 100000 operators");
}

TEST(Validate, RefusesStepsOutsideOfMap) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Step("Negate", {"label"}, {"label"});
  EXPECT_EQ(Messages(builder), List{"pictures: has steps; only map may"});
}

TEST(Validate, RefusesTwoOutputsOfOneName) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Call", {"label"}, {"a", "a"}, {{"function", ReferenceValue("f")}});
  builder.Step("Negate", {"label"}, {"a", "b"});
  EXPECT_EQ(Messages(builder),
            (List{"map Call: gives two columns the name \"a\"", "map Negate: gives 1 column, but 2 are named"}));
}

TEST(Validate, KeepsTheNameOfTheMarksOfPadding) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("rename", {0}, {{"mapping", PairsValue({{"label", "_pad"}})}});
  builder.Add("batch", {1}, {{"size", IntValue(2)}});
  EXPECT_EQ(Messages(builder),
            (List{"rename: gives a column \"_pad\", a name that is kept for the marks of even=\"pad\"; give it another "
                  "name"}));
}

TEST(Validate, DoesNotRepeatWhatFollowsFromAMistake) {
  GraphBuilder builder;
  builder.Add("pictures", {}, {{"columns", StringsValue({"imag"})}});
  builder.Add("map", {0});
  builder.Step("Resize", {"image"}, {"image"}, {{"size", IntValue(8)}});
  builder.Add("batch", {1}, {{"size", IntValue(1)}});
  EXPECT_EQ(Messages(builder),
            List{"pictures: no column \"imag\"; did you mean \"image\"? (columns: image, label, path, big)"});
}

TEST(Validate, LooksIntoAMapWhoseOwnAttributesAreWrong) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0}, {{"workers", IntValue(0)}});
  builder.Step("Negate", {"imge"}, {"x"});
  EXPECT_EQ(Messages(builder).size(), 2u);
}

TEST(Validate, ChecksExpressionsAgainstColumns) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add(
      "filter", {0},
      {{"predicate", ExpressionValue(CallExpression("<", ColumnExpression("lbl"), LiteralExpression(IntValue(3))))}});
  builder.Add("filter", {1}, {{"predicate", ExpressionValue(ColumnExpression("label"))}});
  EXPECT_EQ(Messages(builder), List{"filter: no column \"lbl\" (columns: image, label)"});
  GraphBuilder other;
  other.Add("pictures");
  other.Add("filter", {0}, {{"predicate", ExpressionValue(ColumnExpression("label"))}});
  EXPECT_EQ(Messages(other), List{"filter: predicate gives int32 (); it must give a bool"});
}

TEST(Validate, CutsAListThatIsTooLongForAScreen) {
  GraphBuilder builder;
  builder.Add("pictures");
  for (uint32_t i = 0; i < 30; ++i) builder.Add("batch", {i}, {{"size", IntValue(0)}});
  const std::string text(Validate(builder.Canonical()).message());
  EXPECT_NE(text.find("and 10 more"), std::string::npos);
}

TEST(Infer, FollowsMapsAndBatches) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Resize", {"image"}, {"small"}, {{"size", IntsValue({8, 9})}});
  builder.Step("Negate", {"small"}, {"image"});
  builder.Add("batch", {1}, {{"size", IntValue(2)}});
  absl::StatusOr<std::vector<Schema>> schemas = InferSchemas(builder.Canonical());
  ASSERT_TRUE(schemas.ok()) << schemas.status();
  EXPECT_EQ((*schemas)[1].Names(), (std::vector<std::string>{"image", "label", "small"}));
  EXPECT_EQ(TypeName((*schemas)[1].Find("image")->type), "uint8 (8, 9, 3)");
  EXPECT_EQ(TypeName(ResultSchema(builder.Canonical())->Find("small")->type), "uint8 (None, 8, 9, 3)");
  EXPECT_EQ(*InferNode(builder.Canonical().nodes(1), {(*schemas)[0]}), (*schemas)[1]);
}

TEST(Infer, TakesResultsOfPythonAsUnknown) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Call", {"image"}, {"image", "weight"}, {{"function", ReferenceValue("f")}});
  builder.Step("Resize", {"image"}, {"image"}, {{"size", IntValue(8)}});
  absl::StatusOr<Schema> schema = ResultSchema(builder.Canonical());
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(TypeName(schema->Find("weight")->type), "unknown");
  // A row may hold a clip.
  EXPECT_EQ(TypeName(schema->Find("image")->type), "unknown");
}

TEST(Infer, FailsForAGraphWithMistakes) {
  GraphBuilder builder;
  builder.Add("pictures", {}, {{"columns", StringValue("imag")}});
  EXPECT_EQ(KindOf(InferSchemas(builder.Canonical()).status()), ErrorKind::kGraph);
}

}  // namespace
}  // namespace headrace::ir
