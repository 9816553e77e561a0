#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::CallExpression;
using ir::ColumnExpression;
using ir::ExpressionValue;
using ir::IntValue;
using ir::LiteralExpression;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ir::proto::Expression Int(int64_t value) { return LiteralExpression(IntValue(value)); }

// value % 3 == 0
ir::proto::Expression ThirdOnes() {
  return CallExpression("==", CallExpression("%", ColumnExpression("value"), Int(3)), Int(0));
}

GraphBuilder Filtered(int64_t start, int64_t stop, int64_t group, const GraphBuilder::Given& attributes) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"start", IntValue(start)}, {"stop", IntValue(stop)}});
  builder.Add("test_group", {0}, {{"rows", IntValue(group)}});
  builder.Add("filter", {1}, attributes);
  return builder;
}

class Filter : public ::testing::TestWithParam<int64_t> {};

TEST_P(Filter, KeepsTheRowsForWhichTheExpressionHolds) {
  const Ran ran = RunEveryWay(Filtered(0, 11, GetParam(), {{"predicate", ExpressionValue(ThirdOnes())}}));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(ran.Keys(1), ElementsAre(0, 3, 6, 9));
}

TEST_P(Filter, MayKeepNothing) {
  const auto never = CallExpression("<", ColumnExpression("value"), Int(0));
  EXPECT_THAT(RunEveryWay(Filtered(0, 7, GetParam(), {{"predicate", ExpressionValue(never)}})).rows, IsEmpty());
}

TEST_P(Filter, FailsTheRowItCannotCompute) {
  // 12 // value == 4, for which 0 fails after the rows from -3 on.
  const auto predicate = CallExpression("<", CallExpression("//", Int(12), ColumnExpression("value")), Int(-5));
  const Ran ran = RunEveryWay(Filtered(-3, 5, GetParam(), {{"predicate", ExpressionValue(predicate)}}));
  EXPECT_THAT(ran.Ints(), ElementsAre(-2, -1));
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kOperator), "filter[2]");
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kLocation), "test.py:3");
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kRow), "epoch 0, key 3");
}

TEST_P(Filter, PassesEarlierErrorsOnAfterTheRowsBefore) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(8)}});
  builder.Add("test_fail", {0}, {{"values", ir::IntsValue({4})}});
  builder.Add("test_group", {1}, {{"rows", IntValue(GetParam())}});
  builder.Add("filter", {2}, {{"predicate", ExpressionValue(ThirdOnes())}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 3));
  EXPECT_THAT(ran.error.ToString(), HasSubstr("the value 4 is not liked"));
}

TEST_P(Filter, StandsBelowABatchAndAnUnfinishedOne) {
  GraphBuilder builder = Filtered(0, 20, GetParam(), {{"predicate", ExpressionValue(ThirdOnes())}});
  builder.Add("batch", {2}, {{"size", IntValue(3)}, {"drop_remainder", ir::BoolValue(true)}});
  EXPECT_THAT(RunEveryWay(builder).Texts(1), ElementsAre("value=int64 (3,) [0 3 6]", "value=int64 (3,) [9 12 15]"));
}

INSTANTIATE_TEST_SUITE_P(Grouped, Filter, ::testing::Values(1, 2, 5));

RunSpec With(FakeFunction::Body body) {
  RunSpec spec;
  spec.bindings.functions["keep"] = std::make_shared<FakeFunction>(std::move(body));
  return spec;
}

absl::StatusOr<std::vector<Tensor>> Answer(bool keep) { return std::vector<Tensor>{*Tensor::Scalar(keep)}; }

const GraphBuilder::Given kByFunction = {{"function", ir::ReferenceValue("keep")}};

TEST(Filter, CallsAFunctionInRowOrder) {
  const auto seen = std::make_shared<std::vector<int64_t>>();
  const RunSpec spec = With([seen](absl::Span<const Tensor> inputs, RowRandom* random) {
    EXPECT_EQ(random, nullptr);
    seen->push_back(inputs[0].value<int64_t>());
    return Answer(seen->back() % 2 == 1);
  });
  PipelineOptions options = OptionsOf(spec);
  options.pull = false;
  options.epochs.last = 0;
  const auto ran = RunOnce(*Filtered(0, 9, 2, kByFunction).Build(), options);
  ASSERT_TRUE(ran.ok());
  EXPECT_THAT(ran->Ints(), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(*seen, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(Filter, GivesAFunctionTheRowsOwnDraws) {
  GraphBuilder::Given attributes = kByFunction;
  attributes.push_back({"random", ir::BoolValue(true)});
  const Ran ran =
      RunEveryWay(Filtered(0, 40, 3, attributes),
                  With([](absl::Span<const Tensor>, RowRandom* random) { return Answer(random->Uniform() < 0.5); }));
  EXPECT_GT(ran.Ints(0, 0).size(), 5u);
  EXPECT_LT(ran.Ints(0, 0).size(), 35u);
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1)) << "another epoch draws anew";
}

TEST(Filter, RefusesAnAnswerThatIsNoBool) {
  const Ran ran = RunEveryWay(Filtered(0, 4, 1, kByFunction), With([](absl::Span<const Tensor> inputs, RowRandom*) {
                                if (inputs[0].value<int64_t>() < 2) return Answer(true);
                                return absl::StatusOr<std::vector<Tensor>>(std::vector<Tensor>{Int64s({1, 2})});
                              }));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 1));
  EXPECT_THAT(ran.error.ToString(), HasSubstr("returned int64 (2,); it must return True or False"));
}

TEST(Filter, PassesTheFunctionsOwnErrorOn) {
  const Ran ran = RunEveryWay(Filtered(0, 4, 2, kByFunction), With([](absl::Span<const Tensor> inputs, RowRandom*) {
                                if (inputs[0].value<int64_t>() < 3) return Answer(true);
                                return absl::StatusOr<std::vector<Tensor>>(MakeError(ErrorKind::kFunction, "no"));
                              }));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 1, 2));
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kFunction);
}

TEST(Filter, GivesAFunctionTheColumnsNamed) {
  GraphBuilder builder;
  builder.Add("Numpy", {}, {{"arrays", ir::ReferenceValue("ab")}, {"columns", ir::ColumnsValue(Int64Columns("ab"))}});
  builder.Add("filter", {0}, {{"function", ir::ReferenceValue("keep")}, {"columns", ir::StringsValue({"b"})}});
  RunSpec spec = With([](absl::Span<const Tensor> inputs, RowRandom*) {
    EXPECT_EQ(inputs.size(), 1u);
    return Answer(inputs[0].value<int64_t>() > 5);
  });
  spec.bindings.arrays["ab"].columns = {{"a", Int64s({0, 1, 2})}, {"b", Int64s({5, 6, 7})}};
  EXPECT_THAT(RunEveryWay(builder, spec).Texts(), ElementsAre("a=1, b=6", "a=2, b=7"));
}

TEST(Filter, NeedsExactlyOneCondition) {
  EXPECT_THAT(Refusal(Filtered(0, 3, 1, {})), HasSubstr("neither a predicate nor a function"));
  GraphBuilder::Given both = kByFunction;
  both.push_back({"predicate", ExpressionValue(ThirdOnes())});
  EXPECT_THAT(Refusal(Filtered(0, 3, 1, both)), HasSubstr("both a predicate and a function"));
}

TEST(Filter, RefusesWhatCannotBeACondition) {
  const auto misspelt = CallExpression("<", ColumnExpression("vlaue"), Int(3));
  EXPECT_THAT(Refusal(Filtered(0, 3, 1, {{"predicate", ExpressionValue(misspelt)}})),
              HasSubstr("did you mean \"value\"?"));
  const auto number = CallExpression("+", ColumnExpression("value"), Int(3));
  EXPECT_THAT(Refusal(Filtered(0, 3, 1, {{"predicate", ExpressionValue(number)}})), HasSubstr("it must give a bool"));
  GraphBuilder batched;
  batched.Add("Range", {}, {{"stop", IntValue(6)}});
  batched.Add("batch", {0}, {{"size", IntValue(2)}});
  batched.Add("filter", {1}, {{"predicate", ExpressionValue(ThirdOnes())}});
  EXPECT_THAT(Refusal(batched), HasSubstr("\"value\""));
  EXPECT_THAT(Refusal(Filtered(0, 3, 1, {{"function", ir::ReferenceValue("gone")}})),
              HasSubstr("the Python function gone is not here"));
}

TEST(Filter, MakesTheNumberOfRowsUnknown) {
  const auto graph = Filtered(0, 9, 1, {{"predicate", ExpressionValue(ThirdOnes())}}).Build();
  const auto pipeline = Pipeline::Make(*graph, OptionsOf({}));
  ASSERT_TRUE(pipeline.ok());
  EXPECT_EQ((*pipeline)->plan().root().properties.cardinality.kind, Cardinality::Kind::kUnknown);
}

}  // namespace
}  // namespace headrace
