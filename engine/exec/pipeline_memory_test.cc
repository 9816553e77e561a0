// The memory that pipelines hold, and that it stays within their budget.
#include <gtest/gtest.h>

#include <cstdio>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "engine/exec/pipeline.h"
#include "engine/testing/cooperative_threads.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"

namespace headrace {
namespace {

const int kLentRuns = Rounds(60, {.quick = 10, .sanitized = 10});
const int kPipelineMemoryHandSchedules = Rounds(150, {.quick = 20, .sanitized = 20});
const int kPipelineMemoryThreadSchedules = Rounds(200, {.quick = 20, .sanitized = 20});

using ir::BoolValue;
using ir::IntValue;

constexpr int64_t kRowBytes = 64 << 10;
// A row and what surrounds it: its value, headers of buffers.
constexpr int64_t kMessageBytes = kRowBytes + 1024;
// The due row goes ahead alone: the row, and the copy that is made of it.
constexpr int64_t kOver = 2 * kMessageBytes;
constexpr int64_t kPipelineMemoryRows = 60;

uint32_t AddSource(FakeGraph& graph, bool io) {
  return graph.Add("fake_count",
                   {{"rows", IntValue(kPipelineMemoryRows)}, {"bytes", IntValue(kRowBytes)}, {"io", BoolValue(io)}});
}
// Memory like that of rows from a Python function.
uint32_t AddLent(FakeGraph& graph) {
  return graph.Add("fake_work", {{"copy", BoolValue(true)}, {"lent", BoolValue(true)}, {"python", BoolValue(true)}});
}
uint32_t AddCopy(FakeGraph& graph, int64_t cost = 0, bool python = false) {
  return graph.Add("fake_work", {{"copy", BoolValue(true)}, {"cost", IntValue(cost)}, {"python", BoolValue(python)}});
}

// A graph of big rows, in one shape or another; returns the expected values.
std::vector<int64_t> BigRows(uint64_t seed, FakeGraph& graph) {
  ScheduleRandom random(seed);
  AddSource(graph, random.OneIn(2));
  AddCopy(graph, random.OneIn(2) ? 300 : 0, random.OneIn(6));
  std::vector<int64_t> values = FirstValues(kPipelineMemoryRows);
  if (random.OneIn(3)) {
    const uint32_t left = AddCopy(graph);
    AddSource(graph, random.OneIn(2));
    const uint32_t right = AddCopy(graph);
    graph.Add("fake_pair", {}, {left, right});
    for (int64_t& value : values) value = value * 1000 + value;
    graph.Add("fake_work", {{"copy", BoolValue(true)}});
  }
  if (random.OneIn(3)) graph.Add("fake_window", {{"rows", IntValue(4)}});
  AddCopy(graph, random.OneIn(2) ? 100 : 0);
  return values;
}

PipelineOptions OptionsOfPipelineMemory(int64_t memory, uint64_t last_epoch = 0) {
  PipelineOptions options;
  options.memory = memory;
  options.epochs = {0, last_epoch};
  return options;
}

void CheckBigRun(const absl::StatusOr<PipelineRun>& run, const std::vector<int64_t>& values, int64_t most) {
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_TRUE(run->error.ok()) << run->error;
  EXPECT_EQ(run->AllValues(), values);
  EXPECT_LE(run->peak_bytes, most) << "over by " << (run->peak_bytes - most) / kRowBytes << " rows";
}

TEST(PipelineMemory, StaysWithinTheBudgetWhateverTaskRunsNext) {
  for (int i = 0; i < kPipelineMemoryHandSchedules && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    FakeGraph graph;
    const std::vector<int64_t> values = BigRows(static_cast<uint64_t>(i), graph);
    const int64_t budget = (10 + i % 20) * kMessageBytes;
    CheckBigRun(RunByHand(graph.Build(), OptionsOfPipelineMemory(budget), static_cast<uint64_t>(i), 1 + i % 7), values,
                budget + kOver);
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kPipelineMemoryHandSchedules);
}

TEST(PipelineMemory, StaysWithinTheBudgetWithThreads) {
  for (int i = 0; i < kPipelineMemoryThreadSchedules && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    FakeGraph graph;
    const std::vector<int64_t> values = BigRows(1'000'000 + static_cast<uint64_t>(i), graph);
    const int64_t budget = (10 + i % 20) * kMessageBytes;
    PipelineOptions options = OptionsOfPipelineMemory(budget);
    options.workers = i % 5;
    options.pull = i % 7 == 0;
    CheckBigRun(RunPipeline(graph.Build(), options), values, budget + kOver);
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kPipelineMemoryThreadSchedules);
}

// Several sources, joined; returns the expected values.
std::vector<int64_t> WideRows(int sides, bool lent, FakeGraph& graph) {
  std::vector<int64_t> values;
  uint32_t joined = 0;
  for (int side = 0; side < sides; ++side) {
    AddSource(graph, side % 2 == 0);
    const uint32_t made = lent ? AddLent(graph) : AddCopy(graph);
    joined = side == 0 ? made : graph.Add("fake_pair", {}, {joined, made});
  }
  // Makes the data that go with the joined value.
  AddCopy(graph);
  for (int64_t i = 0; i < kPipelineMemoryRows; ++i) {
    int64_t value = i;
    for (int side = 1; side < sides; ++side) value = value * 1000 + i;
    values.push_back(value);
  }
  return values;
}

// Also counts memory that is not the engine's.
TEST(PipelineMemory, CountsWhatItWasLent) {
  for (int i = 0; i < kLentRuns && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    FakeGraph graph;
    std::vector<int64_t> values = FirstValues(kPipelineMemoryRows);
    if (i % 2 == 0) {
      AddSource(graph, false);
      for (int copy = 0; copy < 12; ++copy) AddLent(graph);
    } else {
      values = WideRows(5, true, graph);
    }
    // A message of every stage, and the row of a pair that waits for the other.
    const int64_t budget = (i % 2 == 0 ? 14 + i % 5 : 20 + i % 5) * kMessageBytes;
    TakeMostLent();
    CheckBigRun(RunPipeline(graph.Build(), OptionsOfPipelineMemory(budget)), values, budget + kOver);
    // One row is the user's.
    EXPECT_LE(TakeMostLent(), budget + kOver + kRowBytes);
  }
}

// If every stage may work on a row at a time, none has to overdraw: stages that run ahead leave room for the others.
TEST(PipelineMemory, LeavesRoomForWhatIsDue) {
  for (int i = 0; i < kPipelineMemoryHandSchedules && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    FakeGraph graph;
    AddSource(graph, i % 2 == 0);
    for (int copy = 0; copy < 7; ++copy) AddCopy(graph);
    const int64_t budget = (14 + i % 8) * kMessageBytes;
    CheckBigRun(RunByHand(graph.Build(), OptionsOfPipelineMemory(budget), static_cast<uint64_t>(i), 1 + i % 7),
                FirstValues(kPipelineMemoryRows), budget);
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kPipelineMemoryHandSchedules);
}

// Memory that one lane frees wakes the other lane, even if no connector was full.
TEST(PipelineMemory, StagesThatWaitForMemoryAreWokenInEveryLane) {
  for (int i = 0; i < kPipelineMemoryThreadSchedules && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    FakeGraph graph;
    AddSource(graph, true);
    AddCopy(graph, i % 3 == 0 ? 0 : 200);
    graph.Add("fake_window", {{"rows", IntValue(3 + i % 5)}});
    if (i % 2 == 0) AddCopy(graph, 100);
    const int64_t budget = 9 * kMessageBytes;
    PipelineOptions options = OptionsOfPipelineMemory(budget, 1);
    options.workers = i % 4;
    std::vector<int64_t> values = FirstValues(kPipelineMemoryRows);
    const std::vector<int64_t> again = values;
    values.insert(values.end(), again.begin(), again.end());
    CheckBigRun(RunPipeline(graph.Build(), options), values, budget + kOver);
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kPipelineMemoryThreadSchedules);
}

TEST(PipelineMemory, ARowLargerThanTheBudgetGoesThrough) {
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    FakeGraph graph;
    AddSource(graph, i % 2 == 0);
    for (int copy = 0; copy < 3; ++copy) AddCopy(graph, i % 3 == 0 ? 100 : 0);
    PipelineOptions options = OptionsOfPipelineMemory(16 << 10);
    options.pull = i % 5 == 0;
    CheckBigRun(RunPipeline(graph.Build(), options), FirstValues(kPipelineMemoryRows), (16 << 10) + kOver);
  }
}

TEST(PipelineMemory, AnOperatorThatHoldsTooMuchIsNamed) {
  for (const bool pull : {true, false}) {
    FakeGraph graph;
    AddSource(graph, false);
    graph.Add("fake_window", {{"rows", IntValue(40)}});
    AddCopy(graph);
    PipelineOptions options = OptionsOfPipelineMemory(10 * kMessageBytes);
    options.pull = pull;
    const auto run = RunPipeline(graph.Build(), options);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(KindOf(run->error), ErrorKind::kResource);
    EXPECT_EQ(GetErrorField(run->error, ErrorField::kOperator), "fake_window[1]");
    EXPECT_EQ(GetErrorField(run->error, ErrorField::kLocation), "test.py:2");
    EXPECT_NE(run->error.message().find("fake_window[1] holds"), absl::string_view::npos) << run->error;
    EXPECT_LE(run->peak_bytes, 12 * kMessageBytes);
  }
}

// Also if an earlier epoch was ended from above: the error is of the epoch that runs.
TEST(PipelineMemory, AnOperatorThatHoldsTooMuchLaterIsNamed) {
  for (const bool pull : {true, false}) {
    FakeGraph graph;
    AddSource(graph, false);
    graph.Add("fake_window", {{"rows", IntValue(0)}, {"growth", IntValue(20)}});
    graph.Add("fake_take", {{"count", IntValue(3)}});
    AddCopy(graph);
    PipelineOptions options = OptionsOfPipelineMemory(10 * kMessageBytes, 4);
    options.pull = pull;
    const auto run = RunPipeline(graph.Build(), options);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->AllValues(), FirstValues(3));
    EXPECT_EQ(KindOf(run->error), ErrorKind::kResource) << run->error;
    EXPECT_EQ(GetErrorField(run->error, ErrorField::kOperator), "fake_window[1]");
  }
}

// If the user's code must not begin the next epoch yet, nothing overdraws the budget for it.
TEST(PipelineMemory, RunningAheadDoesNotOverdraw) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(3)}, {"bytes", IntValue(kRowBytes)}});
  for (int i = 0; i < 8; ++i) AddCopy(graph);
  AddCopy(graph, 0, true);
  const int64_t budget = 9 * kMessageBytes;
  PipelineOptions options = OptionsOfPipelineMemory(budget, 1000);
  const auto pipeline = Pipeline::Make(graph.Build(), options);
  ASSERT_TRUE(pipeline.ok());
  (*pipeline)->Ask(0);
  for (int i = 0; i < 4; ++i) {
    ResultRow row;
    ASSERT_TRUE((*pipeline)->Next(std::chrono::seconds(60), row).ok());
  }
  ResultRow row;
  const auto outcome = (*pipeline)->Next(std::chrono::milliseconds(200), row);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(*outcome, Pipeline::Outcome::kNothingYet);
  EXPECT_LE((*pipeline)->report().peak_bytes, budget + kOver);
}

TEST(PipelineMemory, WhatTheUserHoldsLeavesTheBudget) {
  FakeGraph graph;
  AddSource(graph, false);
  AddCopy(graph);
  const int64_t budget = 5 * kMessageBytes;
  auto pipeline = Pipeline::Make(graph.Build(), OptionsOfPipelineMemory(budget));
  ASSERT_TRUE(pipeline.ok());
  std::vector<ResultRow> rows(kPipelineMemoryRows);
  for (ResultRow& row : rows) {
    const auto outcome = (*pipeline)->Next(std::chrono::seconds(60), row);
    ASSERT_TRUE(outcome.ok());
    ASSERT_EQ(*outcome, Pipeline::Outcome::kRow);
  }
  EXPECT_LE((*pipeline)->report().peak_bytes, budget + kOver);
  // And it outlives the pipeline.
  pipeline->reset();
  for (int64_t i = 0; i < kPipelineMemoryRows; ++i) EXPECT_EQ(CheckedValue(rows[static_cast<size_t>(i)]), i);
}

TEST(PipelineMemory, NothingIsLeftOfAPipelineGivenUp) {
  const int64_t before = BufferPool::Global().outstanding_bytes();
  for (int i = 0; i < 200; ++i) {
    FakeGraph graph;
    BigRows(2'000'000 + static_cast<uint64_t>(i), graph);
    PipelineOptions options = OptionsOfPipelineMemory(int64_t{64} << 20, 5);
    options.pull = i % 6 == 0;
    auto pipeline = Pipeline::Make(graph.Build(), options);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    (*pipeline)->Ask(5);
    for (int row = 0; row < i % 9; ++row) {
      ResultRow taken;
      ASSERT_TRUE((*pipeline)->Next(std::chrono::seconds(60), taken).ok());
    }
    if (i % 2 == 0) {
      (*pipeline)->Close();
      EXPECT_EQ((*pipeline)->report().held_bytes, 0) << i;
    }
  }
  EXPECT_EQ(BufferPool::Global().outstanding_bytes(), before);
}

}  // namespace
}  // namespace headrace
