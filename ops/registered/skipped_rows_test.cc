// Rows that fail under the policy to skip them: each operator counts a tombstone as a row, and what is left out, and
// when the limit is exceeded, is the same in every way of running.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "engine/exec/iteration.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"
#include "ops/testing/state_run.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ints = std::vector<int64_t>;

// SkippedRowsNumbers of which some fail, and operators on them.
class SkippedRowsNumbers {
 public:
  explicit SkippedRowsNumbers(int64_t rows, uint64_t max_errors = 100) {
    builder_.SkipFailed(max_errors);
    at_ = builder_.Add("Range", {}, {{"stop", IntValue(rows)}});
  }

  SkippedRowsNumbers& On(std::string_view op, const GraphBuilder::Given& attributes = {}) {
    at_ = builder_.Add(op, {at_}, attributes);
    return *this;
  }
  SkippedRowsNumbers& Failing(Ints values) { return On("test_fail", {{"values", ir::IntsValue(std::move(values))}}); }
  SkippedRowsNumbers& Batch(int64_t size) { return On("batch", {{"size", IntValue(size)}}); }
  SkippedRowsNumbers& Even() {
    const auto rest = ir::CallExpression("%", ir::ColumnExpression("value"), ir::LiteralExpression(IntValue(2)));
    return On("filter",
              {{"predicate", ir::ExpressionValue(ir::CallExpression("==", rest, ir::LiteralExpression(IntValue(0))))}});
  }
  SkippedRowsNumbers& Project() { return On("project", {{"columns", ir::StringsValue({"value"})}}); }
  GraphBuilder& builder() { return builder_; }
  const GraphBuilder& builder() const { return builder_; }
  uint32_t at() const { return at_; }
  void set_at(uint32_t at) { at_ = at; }

 private:
  GraphBuilder builder_;
  uint32_t at_;
};

Ints RowsOfSkippedRows(const SkippedRowsNumbers& numbers) {
  const Ran ran = RunEveryWay(numbers.builder());
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_EQ(ran.Ints(0, 0), ran.Ints(0, 1));
  return ran.Ints();
}

std::vector<std::string> BatchesOfSkippedRows(const SkippedRowsNumbers& numbers) {
  const Ran ran = RunEveryWay(numbers.builder());
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  return ran.Texts();
}

TEST(SkippedRows, AreLeftOutWhereRowsAreGiven) {
  EXPECT_EQ(RowsOfSkippedRows(SkippedRowsNumbers(9).Failing({0, 3, 4, 8})), (Ints{1, 2, 5, 6, 7}));
  EXPECT_EQ(RowsOfSkippedRows(SkippedRowsNumbers(6).Failing({1}).Failing({4, 5})), (Ints{0, 2, 3}));
  EXPECT_EQ(RunEveryWay(SkippedRowsNumbers(9).Failing({3}).builder()).cardinality, Cardinality::Of(9));
}

TEST(SkippedRows, EndTheRunUnderTheOtherPolicy) {
  SkippedRowsNumbers numbers(9);
  numbers.Failing({3}).Batch(2);
  ir::proto::Graph graph = *numbers.builder().Build();
  graph.clear_skip_failed();
  const Ran ran = *RunOnce(graph, OptionsOf({}));
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
  EXPECT_EQ(ran.rows.size(), 1u);
}

TEST(SkippedRows, AreReplacedInBatchesByTheRowsBehind) {
  EXPECT_THAT(BatchesOfSkippedRows(SkippedRowsNumbers(10).Failing({0, 2, 3, 9}).Batch(3)),
              ElementsAre("value=int64 (3,) [1 4 5]", "value=int64 (3,) [6 7 8]"));
  EXPECT_THAT(BatchesOfSkippedRows(SkippedRowsNumbers(5).Failing({4}).Batch(3)),
              ElementsAre("value=int64 (3,) [0 1 2]", "value=int64 (1,) [3]"));
}

TEST(SkippedRows, CountInTakeAndSkip) {
  EXPECT_EQ(RowsOfSkippedRows(SkippedRowsNumbers(9).Failing({1, 3}).On("take", {{"count", IntValue(4)}})),
            (Ints{0, 2}));
  EXPECT_EQ(RowsOfSkippedRows(SkippedRowsNumbers(9).Failing({3, 4}).On("take", {{"count", IntValue(4)}})),
            (Ints{0, 1, 2}));
  EXPECT_EQ(RowsOfSkippedRows(SkippedRowsNumbers(9).Failing({1, 5}).On("skip", {{"count", IntValue(4)}})),
            (Ints{4, 6, 7, 8}));
  // Not counted as left out: it is not wanted.
  EXPECT_EQ(RowsOfSkippedRows(SkippedRowsNumbers(5, 0).Failing({1}).On("skip", {{"count", IntValue(2)}})),
            (Ints{2, 3, 4}));
  EXPECT_EQ(RowsOfSkippedRows(SkippedRowsNumbers(5, 0).Failing({3}).On("take", {{"count", IntValue(3)}})),
            (Ints{0, 1, 2}));
}

TEST(SkippedRows, AreRemovedByAFilter) {
  EXPECT_EQ(RowsOfSkippedRows(SkippedRowsNumbers(12).Failing({0, 2, 3}).Even().On("take", {{"count", IntValue(3)}})),
            (Ints{4, 6, 8}));
  EXPECT_EQ(RowsOfSkippedRows(SkippedRowsNumbers(12).Failing({2, 7}).Even().On("shuffle", {{"window", IntValue(1)}})),
            (Ints{0, 4, 6, 8, 10}));
}

TEST(SkippedRows, KeepTheirNumberInAShuffle) {
  const auto shuffled = [](Ints failing) {
    SkippedRowsNumbers numbers(30);
    numbers.Failing(std::move(failing)).On("shuffle", {{"window", IntValue(7)}});
    return RunEveryWay(numbers.builder()).Ints();
  };
  Ints all = shuffled({});
  std::erase_if(all, [](int64_t value) { return value % 4 == 1; });
  EXPECT_EQ(shuffled({1, 5, 9, 13, 17, 21, 25, 29}), all);
}

TEST(SkippedRows, AreCountedInEachPass) {
  EXPECT_EQ(RowsOfSkippedRows(SkippedRowsNumbers(3).Failing({1}).On("repeat", {{"count", IntValue(2)}})),
            (Ints{0, 2, 0, 2}));
  EXPECT_EQ(RowsOfSkippedRows(SkippedRowsNumbers(3).Failing({1}).On("repeat").On("take", {{"count", IntValue(7)}})),
            (Ints{0, 2, 0, 2, 0}));
}

TEST(SkippedRows, LeaveThePassesOfARepeatIfNothingElseIsThere) {
  for (const bool endless : {false, true}) {
    SkippedRowsNumbers numbers(2);
    numbers.Failing({0, 1}).On("repeat", endless ? GraphBuilder::Given{} : GraphBuilder::Given{{"count", IntValue(2)}});
    const Ran ran = RunEveryWay(numbers.Batch(3).builder());
    EXPECT_THAT(ran.rows, IsEmpty());
    EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
    EXPECT_THAT(DescribeError(ran.error), HasSubstr("every row of pass 0 of repeat() failed"));
  }
  // After another source, so that restarts come between.
  SkippedRowsNumbers numbers(2);
  numbers.Failing({0, 1}).On("repeat", {{"count", IntValue(2)}});
  const uint32_t before = numbers.builder().Add("Range", {}, {{"stop", IntValue(4)}});
  numbers.set_at(numbers.builder().Add("concat", {before, numbers.at()}));
  const Ran ran = RunEveryWay(numbers.On("shuffle", {{"window", IntValue(4)}}).builder());
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
}

TEST(SkippedRows, AreAnErrorIfNothingIsLeftOfAnEpoch) {
  for (SkippedRowsNumbers numbers :
       {SkippedRowsNumbers(3).Failing({0, 1, 2}), SkippedRowsNumbers(3).Failing({0, 1, 2}).Batch(2)}) {
    const Ran ran = RunEveryWay(numbers.builder());
    EXPECT_THAT(DescribeError(ran.error), HasSubstr("every row of this epoch failed"));
    EXPECT_TRUE(IsNothingLeft(ran.error));
  }
}

TEST(SkippedRows, PassThroughConcat) {
  SkippedRowsNumbers numbers(4);
  numbers.Failing({0, 3});
  const uint32_t left = numbers.at();
  const uint32_t range = numbers.builder().Add("Range", {}, {{"start", IntValue(10)}, {"stop", IntValue(14)}});
  const uint32_t right = numbers.builder().Add("test_fail", {range}, {{"values", ir::IntsValue({10, 12})}});
  numbers.set_at(numbers.builder().Add("concat", {left, right}));
  EXPECT_EQ(RowsOfSkippedRows(numbers.On("take", {{"count", IntValue(7)}})), (Ints{1, 2, 11}));
}

SkippedRowsNumbers Zipped(Ints left, Ints right) {
  SkippedRowsNumbers numbers(8);
  numbers.Failing(std::move(left));
  const uint32_t first = numbers.at();
  const uint32_t range = numbers.builder().Add("Range", {}, {{"start", IntValue(10)}, {"stop", IntValue(17)}});
  const uint32_t failing = numbers.builder().Add("test_fail", {range}, {{"values", ir::IntsValue(std::move(right))}});
  const uint32_t renamed =
      numbers.builder().Add("rename", {failing}, {{"mapping", ir::PairsValue({{"value", "other"}})}});
  numbers.set_at(numbers.builder().Add("zip", {first, renamed}));
  return numbers;
}

// A take that ends inside a message of which a later row fails: the checkpoint after it counts the whole message.
TEST(SkippedRows, BehindTheEndOfATakeLeaveItsCheckpointWhole) {
  SkippedRowsNumbers numbers(14);
  const uint32_t taken = numbers.Failing({6}).On("take", {{"count", IntValue(5)}}).at();
  const uint32_t other = numbers.builder().Add("Range", {}, {{"stop", IntValue(9)}});
  const uint32_t batches = numbers.builder().Add("batch", {other}, {{"size", IntValue(5)}});
  const uint32_t rows = numbers.builder().Add("unbatch", {batches});
  numbers.set_at(numbers.builder().Add("concat", {taken, rows}));
  EXPECT_EQ(RowsOfSkippedRows(numbers), (Ints{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(SkippedRows, LeaveOutBothSidesOfAZip) {
  const Ran ran = RunEveryWay(Zipped({0, 3}, {13, 14}).builder());
  EXPECT_EQ(ran.Ints(0), (Ints{1, 2, 5, 6}));
  EXPECT_EQ(ran.Ints(1), (Ints{11, 12, 15, 16}));
}

TEST(SkippedRows, AreRefusedWhereOtherRowsWouldStandSideBySide) {
  for (const bool batches : {false, true}) {
    SkippedRowsNumbers numbers(8);
    const uint32_t other =
        numbers.builder().Add("rename", {numbers.at()}, {{"mapping", ir::PairsValue({{"value", "b"}})}});
    batches ? numbers.Batch(2) : numbers.Even();
    numbers.set_at(numbers.builder().Add("zip", {numbers.at(), other}));
    EXPECT_THAT(Refusal(numbers.builder()), HasSubstr("cannot stand above"));
  }
}

TEST(SkippedRows, AreFatalAboveABatchUntilItIsSplit) {
  const auto failing = [](SkippedRowsNumbers& numbers) -> SkippedRowsNumbers& { return numbers.Failing({4}); };
  SkippedRowsNumbers split(6);
  split.Batch(4).On("unbatch");
  EXPECT_EQ(RowsOfSkippedRows(failing(split)), (Ints{0, 1, 2, 3, 5}));
  SkippedRowsNumbers twice(6);
  twice.Failing({2}).Batch(2).On("unbatch").Failing({4}).Batch(2);
  EXPECT_THAT(BatchesOfSkippedRows(twice), ElementsAre("value=int64 (2,) [0 1]", "value=int64 (2,) [3 5]"));
}

// Through stream operators, too, which pass the error on.
TEST(SkippedRows, DoNotIncludeABatchThatFailed) {
  RunSpec spec;
  spec.bindings.functions["picky"] = std::make_shared<FakeFunction>(
      [](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        if (inputs[0].Index(0).value<int64_t>() == 2) return DataError("not this batch");
        return std::vector<Tensor>{inputs[0]};
      });
  SkippedRowsNumbers numbers(6);
  const uint32_t map = numbers.Batch(2).builder().Add("map", {numbers.at()});
  numbers.builder().Step("PythonFunction", {"value"}, {"value"}, {{"function", ir::ReferenceValue("picky")}});
  numbers.set_at(map);
  numbers.On("unbatch").On("take", {{"count", IntValue(5)}});
  const Ran ran = RunEveryWay(numbers.builder(), spec);
  EXPECT_EQ(ran.Ints(), (Ints{0, 1}));
  EXPECT_THAT(ran.error.ToString(), HasSubstr("not this batch"));
}

// Rows of which one cannot be split, and what fails before.
TEST(SkippedRows, StayOneTombstoneInUnbatch) {
  RunSpec spec;
  spec.bindings.functions["pieces"] = std::make_shared<FakeFunction>(
      [](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        const auto value = inputs[0].value<int64_t>();
        if (value == 1) return DataError("no pieces");
        return std::vector<Tensor>{Int64s(Ints(3, value)), Int64s(Ints(value == 3 ? 2 : 3, 7))};
      });
  SkippedRowsNumbers numbers(6);
  const uint32_t map = numbers.builder().Add("map", {numbers.at()});
  numbers.builder().Step("PythonFunction", {"value"}, {"value", "b"},
                         {{"function", ir::ReferenceValue("pieces")}, {"outputs", IntValue(2)}});
  numbers.set_at(map);
  numbers.On("unbatch").On("take", {{"count", IntValue(9)}});
  const Ran ran = RunEveryWay(numbers.builder(), spec);
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_EQ(ran.Ints(), (Ints{0, 0, 0, 2, 2, 2, 4}));
}

TEST(SkippedRows, AreKeptByCachesInOrder) {
  SkippedRowsNumbers numbers(12, 4);
  numbers.Failing({1, 5, 6}).On("shuffle", {{"window", IntValue(4)}}).On("cache");
  RunSpec spec;
  spec.epochs = 4;
  const Ran ran = RunEveryWay(numbers.builder(), spec);
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_EQ(ran.Ints(0, 0).size(), 9u);
  EXPECT_EQ(ran.Ints(0, 3), ran.Ints(0, 0));
  // And what a filter below removed, up to the limit.
  SkippedRowsNumbers limited(12, 1);
  limited.Failing({2, 8}).Even().On("cache");
  EXPECT_EQ(RunEveryWay(limited.builder(), spec).Ints(), (Ints{0, 4, 6}));
}

TEST(SkippedRows, AreNotKeptByCachesByKey) {
  SkippedRowsNumbers numbers(12);
  numbers.Failing({1, 5}).On("cache").Batch(4);
  RunSpec spec;
  spec.epochs = 3;
  const Ran ran = RunEveryWay(numbers.builder(), spec);
  EXPECT_THAT(ran.Texts(2),
              ElementsAre("value=int64 (4,) [0 2 3 4]", "value=int64 (4,) [6 7 8 9]", "value=int64 (2,) [10 11]"));
}

TEST(SkippedRows, EndTheRunAtTheLimit) {
  for (const bool batches : {false, true}) {
    SkippedRowsNumbers numbers(12, 2);
    numbers.Failing({1, 5, 8});
    if (batches) numbers.Batch(2);
    const Ran ran = RunEveryWay(numbers.builder());
    EXPECT_EQ(ran.rows.size(), batches ? 3u : 6u);
    EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
    const std::string text = DescribeError(ran.error);
    EXPECT_THAT(text, HasSubstr("3 rows of epoch 0 failed, and on_error() allows max_errors=2"));
    EXPECT_THAT(text, HasSubstr("raise max_errors"));
    EXPECT_THAT(text, HasSubstr("the value 8 is not liked"));
    EXPECT_THAT(text, HasSubstr("left out before: record 1; record 5"));
  }
}

TEST(SkippedRows, CountAnewInEachEpoch) {
  RunSpec spec;
  spec.epochs = 3;
  const Ran ran = RunEveryWay(SkippedRowsNumbers(6, 2).Failing({1, 4}).builder(), spec);
  EXPECT_TRUE(ran.error.ok()) << ran.error;
}

TEST(SkippedRows, CountInShards) {
  SkippedRowsNumbers numbers(9, 2);
  numbers.Failing({0, 2, 5}).Batch(2);
  const std::vector<Ran> ranks = RunRanks(numbers.builder(), 2);
  EXPECT_THAT(ranks[0].Texts(), ElementsAre("value=int64 (2,) [4 6]", "value=int64 (1,) [8]"));
  EXPECT_THAT(ranks[1].Texts(), ElementsAre("value=int64 (2,) [1 3]", "value=int64 (1,) [7]"));
}

TEST(SkippedRows, AreFilledInWhereRanksMustStepAlike) {
  SkippedRowsNumbers numbers(11);
  numbers.Failing({0, 2, 9, 10});
  numbers.On("batch", {{"size", IntValue(3)}, {"mark_padding", ir::BoolValue(true)}});
  RunSpec spec;
  spec.shard.even = ShardAssignment::Even::kPad;
  const std::vector<Ran> ranks = RunRanks(numbers.builder(), 2, spec);
  EXPECT_THAT(ranks[0].Texts(), ElementsAre("value=int64 (3,) [4 4 4], _pad=bool (3,) [1 1 0]",
                                            "value=int64 (3,) [6 8 8], _pad=bool (3,) [0 0 1]"));
  EXPECT_THAT(ranks[1].Texts(), ElementsAre("value=int64 (3,) [1 3 5], _pad=bool (3,) [0 0 0]",
                                            "value=int64 (3,) [7 7 7], _pad=bool (3,) [0 1 1]"));
}

TEST(SkippedRows, AreAnErrorIfABatchHasNothingToFillInWith) {
  SkippedRowsNumbers numbers(6);
  numbers.Failing({0, 1, 2});
  numbers.On("batch", {{"size", IntValue(3)}, {"mark_padding", ir::BoolValue(true)}});
  RunSpec spec;
  spec.shard.even = ShardAssignment::Even::kPad;
  EXPECT_THAT(DescribeError(RunEveryWay(numbers.builder(), spec).error), HasSubstr("every row of a batch of 3 failed"));
}

TEST(SkippedRows, RefuseWhatRanksCannotStepAlikeWith) {
  RunSpec spec;
  spec.shard = {0, 2, 0, ShardAssignment::Even::kDrop};
  EXPECT_THAT(Refusal(SkippedRowsNumbers(8).Batch(2).builder(), spec), HasSubstr("even=\"drop\""));
  spec.shard.even = ShardAssignment::Even::kPad;
  EXPECT_THAT(Refusal(SkippedRowsNumbers(8).builder(), spec), HasSubstr("needs a batch"));
  EXPECT_THAT(Refusal(SkippedRowsNumbers(8).Batch(2).On("unbatch").Batch(2).builder(), spec), HasSubstr("unbatch"));
}

TEST(SkippedRows, RefuseStatesOfOtherRanksAndImpossibleCounts) {
  SkippedRowsNumbers numbers(9, 3);
  numbers.Failing({1}).Batch(2);
  const ir::proto::Graph graph = *numbers.builder().Build();
  proto::State state = StateAfter(graph, 2);
  EXPECT_EQ(state.removed(), 1u);
  IterateOptions other = FromState(state);
  other.world = 2;
  EXPECT_THAT(std::string(Iteration::Start(graph, other).status().message()),
              HasSubstr("cannot go on as shard 0 of 2"));
  state.set_removed(4);
  EXPECT_THAT(std::string(Iteration::Start(graph, FromState(state)).status().message()),
              HasSubstr("4 rows were left out, of at most 3"));
}

TEST(SkippedRows, RefuseImpossibleCountersOfARepeat) {
  SkippedRowsNumbers numbers(9, 3);
  numbers.Failing({1}).On("repeat", {{"count", IntValue(2)}});
  const ir::proto::Graph graph = *numbers.builder().Build();
  proto::State state = StateAfter(graph, 2);
  state.set_checkpoint(state.checkpoint_size() - 1, 9);
  EXPECT_THAT(std::string(Iteration::Start(graph, FromState(state)).status().message()), HasSubstr("which is 0 to 2"));
}

TEST(SkippedRows, AreOnlyThoseOfWhichTheErrorIsTheirOwn) {
  RunSpec spec;
  for (const absl::Status& error : {GraphError("types"), ResourceError("memory"), BeyondRow(DataError("the disk"))}) {
    spec.bindings.functions["fails"] = std::make_shared<FakeFunction>(
        [error](absl::Span<const Tensor>, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> { return error; });
    SkippedRowsNumbers numbers(3);
    numbers.On("map");
    numbers.builder().Step("PythonFunction", {"value"}, {"value"}, {{"function", ir::ReferenceValue("fails")}});
    const Ran ran = RunEveryWay(numbers.builder(), spec);
    EXPECT_EQ(ran.error.message(), error.message());
  }
}

}  // namespace
}  // namespace headrace
