#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/error.h"
#include "engine/exec/iteration.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphBuilder SourceGenerator(const ir::Schema& columns = Int64Columns("x")) {
  GraphBuilder builder;
  builder.Add("Generator", {}, {{"function", ir::ReferenceValue("rows")}, {"columns", ir::ColumnsValue(columns)}});
  return builder;
}

RunSpec WithGenerator(FakeIterator::Row row) {
  RunSpec spec;
  BindIterator(spec.bindings, "rows", std::move(row));
  return spec;
}

// 3 rows in epoch 0, 4 in epoch 1, …: 100 epoch + i.
absl::StatusOr<std::vector<Tensor>> Growing(uint64_t epoch, uint64_t i) {
  if (i >= 3 + epoch) return std::vector<Tensor>();
  return std::vector<Tensor>{*Tensor::Scalar(static_cast<int64_t>(100 * epoch + i))};
}

TEST(Generator, GivesTheRowsOfEachEpoch) {
  const Ran ran = RunEveryWay(SourceGenerator(), WithGenerator(Growing));
  EXPECT_THAT(ran.Ints(0, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(100, 101, 102, 103));
  EXPECT_THAT(ran.Keys(1), ElementsAre(0, 1, 2, 3));
}

TEST(Generator, StandsBelowShuffleAndBatch) {
  GraphBuilder builder = SourceGenerator();
  builder.Add("repeat", {0}, {{"count", IntValue(3)}});
  builder.Add("shuffle", {1}, {{"window", IntValue(4)}});
  builder.Add("batch", {2}, {{"size", IntValue(2)}});
  EXPECT_EQ(RunEveryWay(builder, WithGenerator(Growing)).Texts(0).size(), 6u);
}

// Small rows of a batch that are alike come as columns, others as they are; each way gives the same batches.
TEST(Generator, GivesTheRowsOfABatchTogether) {
  GraphBuilder builder = SourceGenerator();
  builder.Add("batch", {0}, {{"size", IntValue(50)}});
  const Ran ran =
      RunEveryWay(builder, WithGenerator([](uint64_t epoch, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
                    if (i >= 120 + epoch) return std::vector<Tensor>();
                    return std::vector<Tensor>{*Tensor::Scalar(static_cast<int64_t>(i))};
                  }));
  ASSERT_EQ(ran.rows.size(), 6u);
  int64_t next = 0;
  for (const RanRow& row : ran.rows) {
    if (row.epoch == 1 && next == 120) next = 0;
    for (int64_t i = 0; i < row.columns[0].dim(0); ++i) EXPECT_EQ(row.columns[0].Index(i).value<int64_t>(), next++);
  }
  EXPECT_EQ(next, 121);
}

// No row of a batch waits for one after it, for which the function may wait in turn.
TEST(Generator, IsNotCalledForRowsBehindABatchBeforeThatIsGiven) {
  const auto joined = [](const std::function<void(GraphBuilder&)>& add) {
    GraphBuilder builder = SourceGenerator();
    add(builder);
    IterateOptions options;
    RunSpec spec = WithGenerator(Growing);
    options.bindings = spec.bindings;
    const PlannedStage stage = PlanRun(*builder.Build(), options)->plan.stages.back();
    EXPECT_EQ(stage.group, stage.joined_rows > 0 ? 0 : 1);
    return stage.joined_rows;
  };
  const auto batch = [](uint32_t input) {
    return [input](GraphBuilder& builder) { builder.Add("batch", {input}, {{"size", IntValue(6)}}); };
  };
  EXPECT_EQ(joined([](GraphBuilder&) {}), 0);
  EXPECT_EQ(joined(batch(0)), 6);
  // Ends the epoch before a batch is full, or gives out rows before that.
  for (const std::string between : {"take", "repeat"}) {
    EXPECT_EQ(joined([&](GraphBuilder& builder) {
                builder.Add(between, {0}, {{"count", IntValue(9)}});
                batch(1)(builder);
              }),
              0)
        << between;
  }
}

TEST(Generator, ShardsRows) {
  const std::vector<Ran> ranks = RunRanks(SourceGenerator(), 2, WithGenerator(Growing));
  EXPECT_THAT(ranks[0].Ints(0, 1), ElementsAre(100, 102));
  EXPECT_THAT(ranks[1].Ints(0, 1), ElementsAre(101, 103));
}

TEST(Generator, PassesItsErrorOnAfterTheRowsBefore) {
  const Ran ran = RunEveryWay(SourceGenerator(),
                              WithGenerator([](uint64_t epoch, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
                                if (i == 2) return MakeError(ErrorKind::kFunction, "no third row");
                                return Growing(epoch, i);
                              }));
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 1));
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kFunction);
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kOperator), "Generator[0]");
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kLocation), "test.py:1");
}

TEST(Generator, NamesTheColumnThatIsNotAsDeclared) {
  const Ran type =
      RunEveryWay(SourceGenerator({{{"x", ir::ColumnType::Of(DType::kFloat32, {})}}}), WithGenerator(Growing));
  EXPECT_THAT(type.error.ToString(),
              HasSubstr("column \"x\" of row 0 of the generator rows is int64 (); it was declared "
                        "as float32 ()"));
  const Ran shape = RunEveryWay(SourceGenerator({{{"x", ir::ColumnType::Of(DType::kInt64, {ir::kUnknownDim})}}}),
                                WithGenerator(Growing));
  EXPECT_THAT(shape.error.ToString(), HasSubstr("declared as int64 (None,)"));
  const Ran count = RunEveryWay(SourceGenerator(Int64Columns("xy")), WithGenerator(Growing));
  EXPECT_THAT(count.error.ToString(), HasSubstr("has 1 values for 2 columns"));
}

TEST(Generator, IsNotBegunForAnEpochThatNobodyAskedFor) {
  const auto latest = std::make_shared<std::atomic<uint64_t>>(0);
  PipelineOptions options = OptionsOf(WithGenerator([latest](uint64_t epoch, uint64_t i) {
    latest->store(epoch);
    return Growing(epoch, i);
  }));
  options.pull = false;
  auto pipeline = Pipeline::Make(*SourceGenerator().Build(), options);
  ASSERT_TRUE(pipeline.ok());
  ResultRow row;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE((*pipeline)->Next(std::chrono::seconds(10), row).ok());
  EXPECT_EQ(*(*pipeline)->Next(std::chrono::milliseconds(50), row), Pipeline::Outcome::kNothingYet);
  EXPECT_EQ(latest->load(), 0u);
  (*pipeline)->Ask(1);
  EXPECT_EQ(*(*pipeline)->Next(std::chrono::seconds(10), row), Pipeline::Outcome::kRow);
  EXPECT_EQ(latest->load(), 1u);
}

TEST(Generator, NeedsItsFunction) {
  EXPECT_THAT(Refusal(SourceGenerator()), HasSubstr("the Python generator rows is not here"));
  EXPECT_THAT(Refusal(SourceGenerator({})), HasSubstr("columns is empty"));
}

}  // namespace
}  // namespace headrace
