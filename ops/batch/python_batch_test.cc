#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/exec/iteration.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ir::ReferenceValue;
using ir::StringsValue;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using PythonBatchInts = std::vector<int64_t>;
using Tensors = absl::StatusOr<std::vector<Tensor>>;

// What a function of a batch gets.
struct GivenBatch {
  int64_t number, epoch, rank;
  std::vector<std::string> names;
  std::vector<PythonBatchInts> columns;
};

GivenBatch Read(absl::Span<const Tensor> inputs) {
  const auto* const number = inputs[0].data<uint64_t>();
  GivenBatch batch{
      static_cast<int64_t>(number[0]), static_cast<int64_t>(number[1]), static_cast<int64_t>(number[2]), {}, {}};
  const size_t rows = number[3];
  for (int64_t i = 0; i < inputs[1].elements(); ++i) batch.names.emplace_back(inputs[1].bytes_at(i));
  EXPECT_EQ(inputs.size(), 2 + rows * number[4]);
  for (size_t at = 2; at < inputs.size(); at += rows) {
    PythonBatchInts column;
    for (const Tensor& row : inputs.subspan(at, rows)) column.push_back(row.value<int64_t>());
    batch.columns.push_back(std::move(column));
  }
  return batch;
}

// The rows, as many times as they are, after number, epoch and rank: each batch has another shape.
Tensors Listed(absl::Span<const Tensor> inputs, RowRandom*) {
  const GivenBatch batch = Read(inputs);
  PythonBatchInts values = {batch.number, batch.epoch, batch.rank};
  values.insert(values.end(), batch.columns[0].begin(), batch.columns[0].end());
  return std::vector<Tensor>{Int64s(values)};
}

// 1 to 3 rows, and others in odd epochs.
Tensors Size(absl::Span<const Tensor> inputs, RowRandom*) {
  const auto* const number = inputs[0].data<uint64_t>();
  EXPECT_EQ(number[2], 0u) << "sizes do not depend on the rank";
  return std::vector<Tensor>{*Tensor::Scalar(static_cast<int64_t>(1 + (number[0] + number[1]) % 3))};
}

RunSpec With(FakeFunction::Body make, FakeFunction::Body size = Size) {
  RunSpec spec;
  spec.bindings.functions["make"] = std::make_shared<FakeFunction>(std::move(make));
  spec.bindings.functions["size"] = std::make_shared<FakeFunction>(std::move(size));
  return spec;
}

GraphBuilder::Given Making(int64_t size, GraphBuilder::Given more = {}) {
  more.insert(more.end(), {{"size", IntValue(size)}, {"function", ReferenceValue("make")}});
  return more;
}

GraphBuilder::Given Choosing(GraphBuilder::Given more = {}) {
  more.emplace_back("choose_size", ReferenceValue("size"));
  return more;
}

GraphBuilder BatchedPythonBatch(int64_t rows, const GraphBuilder::Given& batch) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  builder.Add("python_batch", {0}, batch);
  return builder;
}

TEST(PythonBatch, IsWhatItsFunctionMakes) {
  const Ran ran = RunEveryWay(BatchedPythonBatch(5, Making(2)), With(Listed));
  EXPECT_THAT(ran.Texts(0), ElementsAre("value=int64 (5,) [0 0 0 0 1]", "value=int64 (5,) [1 0 0 2 3]",
                                        "value=int64 (4,) [2 0 0 4]"));
  EXPECT_THAT(ran.Texts(1), ElementsAre("value=int64 (5,) [0 1 0 0 1]", "value=int64 (5,) [1 1 0 2 3]",
                                        "value=int64 (4,) [2 1 0 4]"));
  EXPECT_THAT(ran.Keys(), ElementsAre(0, 2, 4));
  EXPECT_EQ(ran.cardinality, Cardinality::Of(3));
}

TEST(PythonBatch, HasItsNumberInARangeOfBatches) {
  RunSpec spec = With(Listed);
  spec.first_epoch = 3;
  ExpectRanges(BatchedPythonBatch(11, Making(2)), spec, {{1, 3}, {4, 6}, {0, 1}, {2, 9}, {3, 4}});
  spec.shard = {1, 2, 0, ShardAssignment::Even::kPad};
  ExpectRanges(BatchedPythonBatch(11, Making(2, {{"mark_padding", BoolValue(true)}})), spec, {{2, 3}, {1, 2}, {0, 3}});
}

TEST(PythonBatch, LeavesOutTheRemainder) {
  const Ran ran = RunEveryWay(BatchedPythonBatch(5, Making(2, {{"drop_remainder", BoolValue(true)}})), With(Listed));
  EXPECT_EQ(ran.Texts(0).size(), 2u);
  EXPECT_EQ(ran.cardinality, Cardinality::Of(2));
}

TEST(PythonBatch, MayHaveOtherColumns) {
  GraphBuilder builder;
  builder.Add("Numpy", {}, {{"arrays", ReferenceValue("table")}, {"columns", ir::ColumnsValue(Int64Columns("ab"))}});
  builder.Add("python_batch", {0}, Making(2, {{"output", StringsValue({"sum", "b", "number"})}}));
  RunSpec spec = With([](absl::Span<const Tensor> inputs, RowRandom*) -> Tensors {
    const GivenBatch batch = Read(inputs);
    EXPECT_THAT(batch.names, ElementsAre("a", "b", "sum", "b", "number"));
    const PythonBatchInts& a = batch.columns[0];
    return std::vector<Tensor>{*Tensor::Scalar(std::accumulate(a.begin(), a.end(), int64_t{0})),
                               Int64s(batch.columns[1]), *Tensor::Scalar(batch.number)};
  });
  spec.bindings.arrays["table"].columns = {{"a", Int64s({1, 2, 3})}, {"b", Int64s({4, 5, 6})}};
  EXPECT_THAT(RunEveryWay(builder, spec).Texts(),
              ElementsAre("sum=3, b=int64 (2,) [4 5], number=0", "sum=3, b=int64 (1,) [6], number=1"));
}

TEST(PythonBatch, DrawsFromTheStreamOfItsFirstRow) {
  const auto draw = [](absl::Span<const Tensor>, RowRandom* random) -> Tensors {
    return std::vector<Tensor>{*Tensor::Scalar(static_cast<int64_t>(random->key())),
                               *Tensor::Scalar(static_cast<int64_t>(random->row()))};
  };
  const Ran ran = RunEveryWay(
      BatchedPythonBatch(5, Making(2, {{"random", BoolValue(true)}, {"output", StringsValue({"key", "row"})}})),
      With(draw));
  EXPECT_EQ(ran.Ints(1), (PythonBatchInts{0, 2, 4}));
  EXPECT_EQ(ran.Ints(0)[0], ran.Ints(0)[2]);
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
}

TEST(PythonBatch, HasTheSizeThatIsChosen) {
  const Ran ran = RunEveryWay(BatchedPythonBatch(8, Choosing()), With(Listed));
  EXPECT_THAT(ran.Texts(0), ElementsAre("value=int64 (1,) [0]", "value=int64 (2,) [1 2]", "value=int64 (3,) [3 4 5]",
                                        "value=int64 (1,) [6]", "value=int64 (1,) [7]"));
  EXPECT_THAT(ran.Texts(1), ElementsAre("value=int64 (2,) [0 1]", "value=int64 (3,) [2 3 4]", "value=int64 (1,) [5]",
                                        "value=int64 (2,) [6 7]"));
  EXPECT_EQ(ran.cardinality, Cardinality::Unknown());
  EXPECT_EQ(
      RunEveryWay(BatchedPythonBatch(8, Choosing({{"drop_remainder", BoolValue(true)}})), With(Listed)).Texts(0).size(),
      4u);
  EXPECT_THAT(RunEveryWay(BatchedPythonBatch(0, Choosing()), With(Listed)).Texts(), IsEmpty());
}

TEST(PythonBatch, HasSizesThatAreChosenAndItsFunction) {
  const Ran ran = RunEveryWay(BatchedPythonBatch(5, Choosing({{"function", ReferenceValue("make")}})), With(Listed));
  EXPECT_THAT(ran.Texts(0), ElementsAre("value=int64 (4,) [0 0 0 0]", "value=int64 (5,) [1 0 0 1 2]",
                                        "value=int64 (5,) [2 0 0 3 4]"));
}

TEST(PythonBatch, PadsRowsOfChosenSizes) {
  GraphBuilder builder = BatchedPythonBatch(8, Choosing());
  builder.Add("python_batch", {1}, Choosing({{"pad", BoolValue(true)}, {"pad_value", ir::FloatValue(-1)}}));
  EXPECT_THAT(RunEveryWay(builder, With(Listed)).Texts(0),
              ElementsAre("value=int64 (1, 1) [0]", "value=int64 (2, 3) [1 2 -1 3 4 5]", "value=int64 (2, 1) [6 7]"));
}

// It may cut messages of many rows anywhere, and be cut again above.
TEST(PythonBatch, CutsGroupsOfRows) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(11)}});
  builder.Add("test_group", {0}, {{"rows", IntValue(4)}});
  builder.Add("python_batch", {1}, Choosing());
  builder.Add("unbatch", {2});
  builder.Add("take", {3}, {{"count", IntValue(9)}});
  EXPECT_EQ(RunEveryWay(builder, With(Listed)).Ints(), (PythonBatchInts{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

// Under repeat the batches are those of a pass.
TEST(PythonBatch, CountsInTheEpochsOfItsRows) {
  GraphBuilder builder = BatchedPythonBatch(3, Making(2));
  builder.Add("repeat", {1}, {{"count", IntValue(2)}});
  EXPECT_THAT(RunEveryWay(builder, With(Listed)).Texts(1),
              ElementsAre("value=int64 (5,) [0 2 0 0 1]", "value=int64 (4,) [1 2 0 2]", "value=int64 (5,) [0 3 0 0 1]",
                          "value=int64 (4,) [1 3 0 2]"));
}

TEST(PythonBatch, MarksPaddedRows) {
  RunSpec spec = With(Listed);
  spec.shard.even = ShardAssignment::Even::kPad;
  const std::vector<Ran> ranks =
      RunRanks(BatchedPythonBatch(3, Making(2, {{"mark_padding", BoolValue(true)}})), 2, spec);
  EXPECT_THAT(ranks[0].Texts(0), ElementsAre("value=int64 (5,) [0 0 0 0 2], _pad=bool (2,) [0 0]"));
  EXPECT_THAT(ranks[1].Texts(0), ElementsAre("value=int64 (5,) [0 0 1 1 0], _pad=bool (2,) [0 1]"));
}

// ---- rows and batches that fail ----

GraphBuilder FailingPythonBatch(PythonBatchInts values, const GraphBuilder::Given& batch) {
  GraphBuilder builder;
  builder.SkipFailed(100);
  builder.Add("Range", {}, {{"stop", IntValue(7)}});
  builder.Add("test_fail", {0}, {{"values", ir::IntsValue(std::move(values))}});
  builder.Add("python_batch", {1}, batch);
  return builder;
}

TEST(PythonBatch, TakesTheNextRowForOneThatFailed) {
  EXPECT_THAT(RunEveryWay(FailingPythonBatch({0, 3, 4}, Making(2)), With(Listed)).Texts(),
              ElementsAre("value=int64 (5,) [0 0 0 1 2]", "value=int64 (5,) [1 0 0 5 6]"));
  EXPECT_THAT(RunEveryWay(FailingPythonBatch({1, 6}, Choosing()), With(Listed)).Texts(),
              ElementsAre("value=int64 (1,) [0]", "value=int64 (2,) [2 3]", "value=int64 (2,) [4 5]"));
}

TEST(PythonBatch, RepeatsARowForOneThatFailedWhereRanksStepAlike) {
  RunSpec spec = With(Listed);
  spec.shard.even = ShardAssignment::Even::kPad;
  const Ran ran = RunEveryWay(FailingPythonBatch({0, 3}, Making(3, {{"mark_padding", BoolValue(true)}})), spec);
  EXPECT_THAT(ran.Texts(), ElementsAre("value=int64 (6,) [0 0 0 1 1 2], _pad=bool (3,) [1 0 0]",
                                       "value=int64 (6,) [1 0 0 4 4 5], _pad=bool (3,) [1 0 0]",
                                       "value=int64 (4,) [2 0 0 6], _pad=bool (1,) [0]"));
}

std::string FailureOf(const GraphBuilder& builder, const RunSpec& spec, size_t batches_before) {
  const Ran ran = RunEveryWay(builder, spec);
  EXPECT_EQ(ran.rows.size(), batches_before) << ran.error;
  return DescribeError(ran.error);
}

TEST(PythonBatch, ThatFailsIsNamedAndEndsTheRunUnderEitherPolicy) {
  const auto fails = [](absl::Span<const Tensor> inputs, RowRandom* random) -> Tensors {
    if (Read(inputs).number == 1) return MakeError(ErrorKind::kFunction, "collate raised ValueError: no");
    return Listed(inputs, random);
  };
  const auto named = AllOf(HasSubstr("collate raised ValueError: no"), HasSubstr("python_batch["),
                           HasSubstr("batch 1, of 2 rows, which begins with epoch 0, key 2"));
  EXPECT_THAT(FailureOf(BatchedPythonBatch(7, Making(2)), With(fails), 1), named);
  EXPECT_THAT(FailureOf(FailingPythonBatch({6}, Making(2)), With(fails), 1), named);
}

TEST(PythonBatch, IsNotMadeBehindOneThatFailed) {
  std::atomic<int> calls = 0;
  const auto fails = [&calls](absl::Span<const Tensor>, RowRandom*) -> Tensors {
    ++calls;
    return MakeError(ErrorKind::kFunction, "no");
  };
  const absl::StatusOr<Ran> ran = RunOnce(*BatchedPythonBatch(100, Making(2)).Build(), OptionsOf(With(fails)));
  ASSERT_TRUE(ran.ok());
  EXPECT_FALSE(ran->error.ok());
  EXPECT_EQ(calls, 1);
}

TEST(PythonBatch, RefusesAnotherNumberOfColumnsAndOtherTypes) {
  EXPECT_THAT(FailureOf(BatchedPythonBatch(3, Making(2, {{"output", StringsValue({"a", "b"})}})), With(Listed), 0),
              HasSubstr("its function gave 1 values for 2 columns"));
  ir::Schema types;
  types.columns.push_back({"value", ir::ColumnType::Of(DType::kFloat32, {ir::kUnknownDim})});
  EXPECT_THAT(
      FailureOf(BatchedPythonBatch(3, Making(2, {{"types", ir::ColumnsValue(types)}})), With(Listed), 0),
      HasSubstr("the function gave int64 (5,) for column \"value\", which was declared as float32 (None,); return "
                "array.astype(\"float32\"), or declare int64"));
  types.columns.type(0) = ir::ColumnType::Of(DType::kInt64, {ir::kUnknownDim});
  const Ran ran = RunEveryWay(BatchedPythonBatch(3, Making(2, {{"types", ir::ColumnsValue(types)}})), With(Listed));
  EXPECT_TRUE(ran.error.ok()) << ran.error;
}

TEST(PythonBatch, RefusesSizesThatAreNone) {
  for (const auto& [given, text] : std::vector<std::pair<Tensor, std::string>>{
           {*Tensor::Scalar(int64_t{0}), "size gave 0 for batch 2 of epoch 0"},
           {*Tensor::Scalar(int64_t{-3}), "size gave -3 for batch 2"},
           {*Tensor::Scalar(int64_t{1} << 31), "it must give a whole number from 1 to 1073741824"},
           {*Tensor::CopyBytes(DType::kString, "'many'"), "size gave 'many' for batch 2"},
           {*Tensor::Scalar(2.5), "size gave float64 () for batch 2"},
           {Int64s({2}), "size gave int64 (1,) for batch 2"}}) {
    const auto size = [given = given](absl::Span<const Tensor> inputs, RowRandom* random) -> Tensors {
      if (inputs[0].data<uint64_t>()[0] == 2) return std::vector<Tensor>{given};
      return Size(inputs, random);
    };
    EXPECT_THAT(FailureOf(BatchedPythonBatch(7, Choosing()), With(Listed, size), 2), HasSubstr(text));
  }
}

TEST(PythonBatch, NamesTheBatchWhoseSizeCouldNotBeChosen) {
  const auto size = [](absl::Span<const Tensor>, RowRandom*) -> Tensors {
    return MakeError(ErrorKind::kFunction, "sizes raised KeyError: 7");
  };
  EXPECT_THAT(FailureOf(BatchedPythonBatch(7, Choosing()), With(Listed, size), 0),
              AllOf(HasSubstr("sizes raised KeyError: 7"), HasSubstr("the size of batch 0 of epoch 0")));
}

// ---- what is refused before ----

TEST(PythonBatch, RefusesAttributesThatDoNotGoTogether) {
  const RunSpec spec = With(Listed);
  const auto refusal = [&spec](const GraphBuilder::Given& batch) {
    return Refusal(BatchedPythonBatch(3, batch), spec);
  };
  EXPECT_THAT(refusal({{"function", ReferenceValue("make")}}),
              HasSubstr("needs a size, or a function that chooses it"));
  EXPECT_THAT(refusal(Choosing({{"size", IntValue(2)}})), HasSubstr("and not both"));
  EXPECT_THAT(refusal({{"size", IntValue(2)}}), HasSubstr("calls no function"));
  EXPECT_THAT(refusal(Making(2, {{"pad", BoolValue(true)}})), HasSubstr("let the function join them"));
  EXPECT_THAT(refusal(Making(0)), HasSubstr("size is 0"));
  EXPECT_THAT(refusal(Making(2, {{"output", StringsValue({"a", "a"})}})), HasSubstr("names \"a\" twice"));
  EXPECT_THAT(refusal(Choosing({{"output", StringsValue({"a"})}})), HasSubstr("give function="));
  EXPECT_THAT(refusal(Making(2, {{"types", ir::ColumnsValue(Int64Columns("x"))}})),
              HasSubstr("types names \"x\", which the function does not give (value)"));
  EXPECT_THAT(Refusal(BatchedPythonBatch(3, Making(2))), HasSubstr("the Python function make is not here"));
  EXPECT_THAT(Refusal(BatchedPythonBatch(3, Choosing())), HasSubstr("the Python function size is not here"));
}

TEST(PythonBatch, OfChosenSizesDoesNotCutGroups) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(12)}});
  builder.Add("Range", {}, {{"stop", IntValue(12)}});
  builder.Add("PK", {0, 1}, {{"column", ir::StringValue("value")}, {"classes", IntValue(2)}, {"samples", IntValue(3)}});
  builder.Add("python_batch", {2}, Choosing());
  EXPECT_THAT(Refusal(builder, With(Listed)), HasSubstr("which could cut the groups of 6"));
}

// ---- the plan ----

PhysicalPlan PlanOf(const GraphBuilder& builder) {
  IterateOptions options;
  options.bindings = With(Listed).bindings;
  return PlanRun(*builder.Build(), options)->plan;
}

TEST(PythonBatch, HasAStageAndAThreadOfItsOwn) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(12)}});
  builder.Add("shuffle", {0}, {{"window", IntValue(3)}});
  builder.Add("python_batch", {1}, Making(2));
  builder.Add("shuffle", {2}, {{"window", IntValue(2)}});
  const PhysicalPlan plan = PlanOf(builder);
  ASSERT_EQ(plan.stages.size(), 4u);
  EXPECT_EQ(plan.stages[1].name, "python_batch[2]");
  EXPECT_EQ(plan.stages[1].kind, PlannedStage::Kind::kStream);
  EXPECT_EQ(plan.stages[1].lane, Lane::kPython);
  EXPECT_TRUE(plan.stages[1].gated);
  EXPECT_EQ(plan.stages[1].cap, 1);
  for (const int other : {0, 2, 3}) EXPECT_FALSE(plan.stages[static_cast<size_t>(other)].gated) << other;
}

// It is called once for many rows.
TEST(PythonBatch, LetsRowsTravelInGroups) {
  EXPECT_EQ(PlanOf(BatchedPythonBatch(9, Making(2))).stages.back().group, 0);
}

TEST(PythonBatch, FixesPositionsWhereSizesAreConstant) {
  EXPECT_EQ(PlanOf(BatchedPythonBatch(9, Making(2))).position_inexact, -1);
  EXPECT_EQ(PlanOf(BatchedPythonBatch(9, Choosing())).position_inexact, 1);
}

}  // namespace
}  // namespace headrace
