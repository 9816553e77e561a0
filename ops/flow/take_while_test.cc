#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
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

ir::proto::Expression BelowTakeWhile(int64_t limit) {
  return CallExpression("<", ColumnExpression("value"), LiteralExpression(IntValue(limit)));
}

GraphBuilder TakenWhile(int64_t rows, int64_t group, int64_t limit) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  builder.Add("test_group", {0}, {{"rows", IntValue(group)}});
  builder.Add("take_while", {1}, {{"predicate", ExpressionValue(BelowTakeWhile(limit))}});
  return builder;
}

class TakeWhile : public ::testing::TestWithParam<int64_t> {};

TEST_P(TakeWhile, EndsBeforeTheFirstRowForWhichItDoesNotHold) {
  const Ran ran = RunEveryWay(TakenWhile(11, GetParam(), 4));
  EXPECT_THAT(ran.Ints(0, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ran.Keys(1), ElementsAre(0, 1, 2, 3));
}

TEST_P(TakeWhile, MayGiveAllOrNothing) {
  EXPECT_THAT(RunEveryWay(TakenWhile(3, GetParam(), 9)).Ints(0, 1), ElementsAre(0, 1, 2));
  EXPECT_THAT(RunEveryWay(TakenWhile(3, GetParam(), 0)).rows, IsEmpty());
}

TEST_P(TakeWhile, ComesBelowABatchAndAboveAnEndlessRepeat) {
  GraphBuilder builder = TakenWhile(9, GetParam(), 3);
  builder.Add("repeat", {2});
  builder.Add("take", {3}, {{"count", IntValue(5)}});
  builder.Add("batch", {4}, {{"size", IntValue(2)}});
  EXPECT_THAT(RunEveryWay(builder).Texts(1),
              ElementsAre("value=int64 (2,) [0 1]", "value=int64 (2,) [2 0]", "value=int64 (1,) [1]"));
}

TEST_P(TakeWhile, LeavesOutErrorsOfRowsAfterTheEnd) {
  for (const int64_t limit : {3, 6}) {
    GraphBuilder builder;
    builder.Add("Range", {}, {{"stop", IntValue(8)}});
    builder.Add("test_fail", {0}, {{"values", ir::IntsValue({4})}});
    builder.Add("test_group", {1}, {{"rows", IntValue(GetParam())}});
    builder.Add("take_while", {2}, {{"predicate", ExpressionValue(BelowTakeWhile(limit))}});
    const Ran ran = RunEveryWay(builder);
    EXPECT_EQ(ran.Ints(), limit == 3 ? std::vector<int64_t>({0, 1, 2}) : std::vector<int64_t>({0, 1, 2, 3}));
    EXPECT_EQ(ran.error.ok(), limit == 3);
  }
}

TEST_P(TakeWhile, CallsAFunctionInOrder) {
  RunSpec spec;
  spec.bindings.functions["below"] = std::make_shared<FakeFunction>(
      [](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        const int64_t value = inputs[0].value<int64_t>();
        if (value == 5) return DataError("5 is not welcome");
        return std::vector<Tensor>{*Tensor::Scalar(value < 7)};
      });
  GraphBuilder builder;
  builder.Add("Range", {}, {{"start", IntValue(2)}, {"stop", IntValue(9)}});
  builder.Add("test_group", {0}, {{"rows", IntValue(GetParam())}});
  builder.Add("take_while", {1}, {{"function", ir::ReferenceValue("below")}});
  const Ran ran = RunEveryWay(builder, spec);
  EXPECT_THAT(ran.Ints(), ElementsAre(2, 3, 4));
  EXPECT_THAT(ran.error.ToString(), HasSubstr("5 is not welcome"));
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kRow), "epoch 0, key 3");
}

INSTANTIATE_TEST_SUITE_P(Grouped, TakeWhile, ::testing::Values(1, 2, 5));

class GivenByTakeWhile : public Outbox {
 public:
  void Give(Message message) override { messages.push_back(std::move(message)); }
  void FinishEpoch(int /*input*/, uint64_t /*epoch*/) override {}
  std::vector<Message> messages;
};

// What came of one row with this value, before which a row failed and was removed.
Message TakenAfterARemovedRow(int64_t value) {
  const ir::proto::Graph graph = *TakenWhile(3, 1, 4).Build();
  const RunOptions run;
  OpArguments arguments;
  arguments.node = &graph.nodes(2);
  arguments.attributes = ir::Attributes::Of(graph.nodes(2));
  arguments.inputs.emplace_back();
  arguments.inputs[0].columns.push_back({"value", ir::ColumnType::Of(DType::kInt64, {})});
  arguments.run = &run;
  const std::unique_ptr<StreamOperator> take_while = *FindOp("take_while")->stream(arguments);
  take_while->Start(0, std::vector<uint64_t>{0}, {});
  auto message = std::make_unique<Block>();
  absl::InlinedVector<Tensor, 1> columns = {*Tensor::Scalar(value)};
  AppendRow(*message, {0, 1}, {}, columns);
  message->removed = std::make_unique<std::vector<FailedRow>>();
  message->removed->push_back({{0, 0}, {}, DataError("it is not welcome")});
  GivenByTakeWhile given;
  take_while->Receive(0, std::move(message), given);
  return std::move(given.messages.at(0));
}

TEST(TakeWhile, KeepsCountOfRowsThatFailedBeforeItsEnd) {
  for (const int64_t value : {3, 4}) {
    const Message taken = TakenAfterARemovedRow(value);
    EXPECT_EQ(taken->rows(), value == 3 ? 1 : 0);
    EXPECT_EQ(taken->end, value == 3 ? End::kNone : End::kEpoch);
    ASSERT_NE(taken->removed, nullptr);
    EXPECT_EQ(taken->removed->size(), 1u);
  }
}

TEST(TakeWhile, ChecksItsCondition) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(3)}});
  builder.Add("take_while", {0});
  EXPECT_THAT(Refusal(builder), HasSubstr("has neither a predicate nor a function; give one: take_while(hr.col("));
}

}  // namespace
}  // namespace headrace
