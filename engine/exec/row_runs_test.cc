// Stages whose operator takes the rows of many messages in one run: the rows, errors and states are those of rows that
// come alone, each is given out as soon as it is done, and no row is taken that may not run yet.
#include "engine/operator/row_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/testing/patience.h"
#include "core/testing/rounds.h"
#include "engine/exec/pipeline.h"
#include "engine/operator/operator.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"

namespace headrace {
namespace {

using ir::IntsValue;
using ir::IntValue;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using RowRunsOutcome = Pipeline::Outcome;

std::atomic<int> longest_run{0};

// Passes rows on, as fake_work does, but in runs; some fail.
class Together : public RowOperator, public RunOperator {
 public:
  explicit Together(const ir::Attributes& attributes)
      : fail_(attributes.Ints("fail")),
        probe_(&Probe::At(attributes.Int("probe"))),
        hold_(attributes.Int("hold")),
        processes_(static_cast<int>(attributes.Int("processes"))) {}

  void Apply(Block& block) const override {
    for (int row = 0; row < block.rows(); ++row) {
      if (absl::Status status = Make(block, row); !status.ok()) {
        block.Fail(row, std::move(status));
        return;
      }
    }
  }

  bool takes_runs() const override { return true; }
  void ApplyRun(absl::Span<Block* const> blocks, absl::FunctionRef<void(size_t end)> done) const override {
    RaiseTo(longest_run, static_cast<int>(blocks.size()));
    for (size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_EQ(blocks[i]->rows(), 1);
      Apply(*blocks[i]);
      // Two at a time, where the next one can be waited for.
      if (i % 2 == 1 || hold_ >= 0) done(i + 1);
    }
    if (blocks.size() % 2 == 1 && hold_ < 0) done(blocks.size());
  }

 private:
  absl::Status Make(const Block& block, int row) const {
    probe_->Enter(block.epoch);
    const int64_t value = block.columns[0].row(row).value<int64_t>();
    if (value == hold_) probe_->WaitForRelease();
    probe_->Leave();
    const bool fails = std::find(fail_.begin(), fail_.end(), value) != fail_.end();
    return fails ? DataError("the value ", value, " fails") : absl::OkStatus();
  }

  const std::vector<int64_t> fail_;
  Probe* const probe_;
  const int64_t hold_;
  const int processes_;
};

ir::Declaration Declared() {
  ir::Declaration declaration;
  declaration.name = "fake_together";
  declaration.role = ir::Role::kRow;
  declaration.summary = "For tests.";
  declaration.min_inputs = declaration.max_inputs = 1;
  declaration.attributes = {
      {.name = "fail", .type = ir::AttributeType::kInts, .doc = "Those that fail.", .default_value = "()"},
      {.name = "probe", .doc = "A number.", .default_value = "0"},
      {.name = "hold", .doc = "A number.", .default_value = "-1"},
      {.name = "processes", .doc = "A number.", .default_value = "2"}};
  declaration.python_module = "test";
  declaration.infer = ir::PassesSchema();
  return declaration;
}

const OpRegistration kTogether(
    Declared(), {.row = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
                   return std::make_unique<Together>(arguments.attributes);
                 },
                 .properties =
                     [](const OpArguments& arguments, OperatorProperties& properties) {
                       properties.traits = {.one_to_one = true, .python = true};
                       properties.processes = static_cast<int>(arguments.attributes.Int("processes"));
                     }});

FakeGraph RowsRowRuns(int64_t rows, const FakeGraph::Given& given = {}) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(rows)}});
  graph.Add("fake_together", given);
  return graph;
}

TEST(RowRuns, AreOfManyRowsWhereRowsAreLight) {
  for (const int64_t processes : {1, 2, 7}) {
    longest_run = 0;
    const auto run = RunPipeline(RowsRowRuns(20'000, {{"processes", IntValue(processes)}}).Build(), {});
    ASSERT_TRUE(run.ok());
    EXPECT_EQ(run->AllValues(), FirstValues(20'000));
    EXPECT_GT(longest_run, 1) << processes;
    // Each of the tasks at once has slots.
    EXPECT_LE(longest_run, 128 / (processes + 1)) << processes;
  }
}

TEST(RowRuns, HaveNoRowsThatAreTooLargeForOneExchange) {
  const int64_t rows = Rounds(2000, {.sanitized = 300});
  for (const int64_t kilobytes : {200, 60}) {
    longest_run = 0;
    FakeGraph graph;
    graph.Add("fake_count", {{"rows", IntValue(rows)}, {"bytes", IntValue(kilobytes << 10)}});
    graph.Add("fake_together");
    const auto run = RunPipeline(graph.Build(), {});
    ASSERT_TRUE(run.ok());
    EXPECT_EQ(run->AllValues(), FirstValues(rows));
    EXPECT_LE(longest_run, kilobytes == 60 ? 4 : 0);
  }
}

TEST(RowRuns, GiveTheRowsOfRowsAloneInAnyOrderOfTasks) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    FakeGraph graph = RowsRowRuns(60);
    graph.Add("fake_drop", {{"modulus", IntValue(3)}});
    graph.Add("fake_take", {{"count", IntValue(13)}});
    PipelineOptions options;
    options.epochs = {0, 2};
    options.window = seed % 3 == 0 ? 5 : 64;
    PipelineOptions pulled = options;
    pulled.pull = true;
    pulled.window = 0;
    const auto one = RunPipeline(graph.Build(), pulled);
    const auto run = RunByHand(graph.Build(), options, seed, 3);
    ASSERT_TRUE(one.ok() && run.ok());
    ASSERT_EQ(run->epochs, one->epochs) << seed;
  }
}

TEST(RowRuns, NameTheFirstRowThatFails) {
  for (int i = 0; i < 20; ++i) {
    const auto run = RunPipeline(RowsRowRuns(3000, {{"fail", IntsValue({2500, 2501, 2900})}}).Build(), {});
    ASSERT_TRUE(run.ok());
    EXPECT_EQ(run->AllValues(), FirstValues(2500));
    EXPECT_THAT(DescribeError(run->error), HasSubstr("the value 2500 fails"));
    EXPECT_EQ(GetErrorField(run->error, ErrorField::kOperator), "fake_together[1]");
  }
}

TEST(RowRuns, LeaveOutTheRowsThatFailAlone) {
  ir::proto::Graph graph = RowsRowRuns(3000, {{"fail", IntsValue({0, 1, 2000, 2500, 2501, 2999})}}).Build();
  graph.mutable_skip_failed()->set_max_errors(100);
  const auto run = RunPipeline(graph, {});
  ASSERT_TRUE(run.ok() && run->error.ok());
  std::vector<int64_t> expected = FirstValues(3000);
  for (const int64_t failed : {2999, 2501, 2500, 2000, 1, 0}) expected.erase(expected.begin() + failed);
  EXPECT_EQ(run->AllValues(), expected);
}

// What works on a row may wait until the loop has seen the rows before.
TEST(RowRuns, GiveOutEachRowAsSoonAsItIsDone) {
  Probe& probe = Probe::At(41);
  for (const int64_t held : {1, 57, 300, 399}) {
    probe.Reset();
    const auto pipeline = Pipeline::Make(
        RowsRowRuns(400, {{"probe", IntValue(41)}, {"hold", IntValue(held)}, {"processes", IntValue(1)}}).Build(), {});
    ASSERT_TRUE(pipeline.ok());
    ResultRow row;
    for (int64_t i = 0; i < 400; ++i) {
      if (i == held) probe.Release();
      ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), RowRunsOutcome::kRow) << i;
      EXPECT_EQ(CheckedValue(row), i);
    }
    EXPECT_EQ(*(*pipeline)->Next(kTestPatience, row), RowRunsOutcome::kEpochEnd);
  }
}

TEST(RowRuns, EndWithTheEpoch) {
  Probe& probe = Probe::At(42);
  probe.Reset();
  PipelineOptions options;
  options.epochs = {0, 100};
  const auto pipeline = Pipeline::Make(RowsRowRuns(7, {{"probe", IntValue(42)}}).Build(), options);
  ASSERT_TRUE(pipeline.ok());
  ResultRow row;
  for (int64_t epoch = 0; epoch < 60; ++epoch) {
    (*pipeline)->Ask(static_cast<uint64_t>(epoch));
    for (int i = 0; i < 7; ++i) ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), RowRunsOutcome::kRow);
    ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), RowRunsOutcome::kEpochEnd);
    ASSERT_EQ(probe.latest_epoch(), epoch);
    ASSERT_EQ(probe.rows(), 7 * (epoch + 1));
  }
}

// A pipeline that stalls within a run names the row that is worked on, not the first of the run.
TEST(RowRuns, SayWhichRowIsWorkedOn) {
  Probe& probe = Probe::At(43);
  probe.Reset();
  const auto pipeline = Pipeline::Make(
      RowsRowRuns(400, {{"probe", IntValue(43)}, {"hold", IntValue(350)}, {"processes", IntValue(1)}}).Build(), {});
  ASSERT_TRUE(pipeline.ok());
  ResultRow row;
  for (int64_t i = 0; i < 350; ++i) ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), RowRunsOutcome::kRow);
  while (!probe.held()) std::this_thread::yield();
  const std::vector<std::string> lines = (*pipeline)->DescribeStall();
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("fake_together[1]"), HasSubstr(" on the row epoch 0, key 350"),
                                    Not(HasSubstr("or one of")))));
  probe.Release();
}

}  // namespace
}  // namespace headrace
