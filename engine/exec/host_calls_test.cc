// Stages that call the user's functions: many light rows with one lock, each given out at once, none beyond what may
// be.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "core/testing/patience.h"
#include "engine/exec/pipeline.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using HostCallsOutcome = Pipeline::Outcome;

// Counts how often it is taken, and how many threads hold it.
class CountedLock : public HostLock {
 public:
  struct Counts {
    std::atomic<int> taken{0};
    std::atomic<int> held{0};
  };
  explicit CountedLock(Counts& counts) : counts_(counts) {
    counts_.taken.fetch_add(1);
    counts_.held.fetch_add(1);
  }
  ~CountedLock() override { counts_.held.fetch_sub(1); }

 private:
  Counts& counts_;
};

PipelineOptions Locking(CountedLock::Counts& counts) {
  PipelineOptions options;
  options.bindings.lock = [&counts] { return std::make_unique<CountedLock>(counts); };
  return options;
}

ir::proto::Graph Calls(int64_t rows, const FakeGraph::Given& work) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(rows)}});
  FakeGraph::Given given = work;
  given.emplace_back("python", BoolValue(true));
  graph.Add("fake_work", given);
  return graph.Build();
}

TEST(HostCalls, ManyLightRowsTakeOneLock) {
  CountedLock::Counts counts;
  const absl::StatusOr<PipelineRun> run = RunPipeline(Calls(20'000, {}), Locking(counts));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->AllValues().size(), 20'000u);
  EXPECT_GT(counts.taken, 0);
  EXPECT_LT(counts.taken, 10'000);
  EXPECT_EQ(counts.held, 0);
}

TEST(HostCalls, RowsThatTakeLongTakeTheirOwnLocks) {
  CountedLock::Counts counts;
  const absl::StatusOr<PipelineRun> run =
      RunPipeline(Calls(40, {{"cost", IntValue(300)}, {"steady", BoolValue(true)}}), Locking(counts));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(counts.taken, 0);
}

// A function may wait until the loop has seen its earlier results.
TEST(HostCalls, ARowIsGivenOutBeforeTheNextIsCalled) {
  Probe& probe = Probe::At(30);
  for (const int64_t held : {1, 57, 300}) {
    probe.Reset();
    CountedLock::Counts counts;
    const auto pipeline =
        Pipeline::Make(Calls(400, {{"probe", IntValue(30)}, {"hold", IntValue(held)}}), Locking(counts));
    ASSERT_TRUE(pipeline.ok());
    ResultRow row;
    for (int64_t i = 0; i < 400; ++i) {
      if (i == held) probe.Release();
      ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), HostCallsOutcome::kRow) << i;
      EXPECT_EQ(CheckedValue(row), i);
    }
    EXPECT_EQ(*(*pipeline)->Next(kTestPatience, row), HostCallsOutcome::kEpochEnd);
  }
}

// Calls run ahead of the user by the slots of their own stage and of those above it, whatever a task takes.
TEST(HostCalls, SeeNoRowThatHasNoSlot) {
  Probe& probe = Probe::At(31);
  for (const int window : {1, 4, 16}) {
    probe.Reset();
    CountedLock::Counts counts;
    PipelineOptions options = Locking(counts);
    options.window = window;
    const auto pipeline = Pipeline::Make(Calls(2000, {{"probe", IntValue(31)}}), options);
    ASSERT_TRUE(pipeline.ok());
    ResultRow row;
    for (int64_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), HostCallsOutcome::kRow);
      ASSERT_LE(probe.rows(), i + 1 + window);
    }
  }
}

// A task takes no row after the end of an epoch: the next one is not asked for yet.
TEST(HostCalls, EndWithTheEpoch) {
  Probe& probe = Probe::At(32);
  probe.Reset();
  CountedLock::Counts counts;
  PipelineOptions options = Locking(counts);
  options.epochs = {0, 100};
  const auto pipeline = Pipeline::Make(Calls(7, {{"probe", IntValue(32)}}), options);
  ASSERT_TRUE(pipeline.ok());
  ResultRow row;
  for (int64_t epoch = 0; epoch < 60; ++epoch) {
    (*pipeline)->Ask(static_cast<uint64_t>(epoch));
    for (int i = 0; i < 7; ++i) ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), HostCallsOutcome::kRow);
    ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), HostCallsOutcome::kEpochEnd);
    ASSERT_EQ(probe.latest_epoch(), epoch);
    ASSERT_EQ(probe.rows(), 7 * (epoch + 1));
  }
}

// Once downstream has enough, rows that a task has taken are dropped unseen.
TEST(HostCalls, StopWhenDownstreamHasEnough) {
  Probe& probe = Probe::At(33);
  for (int i = 0; i < 100; ++i) {
    probe.Reset();
    CountedLock::Counts counts;
    FakeGraph graph;
    graph.Add("fake_count", {{"rows", IntValue(100'000)}});
    graph.Add("fake_work", {{"probe", IntValue(33)}, {"python", BoolValue(true)}});
    graph.Add("fake_take", {{"count", IntValue(3)}});
    PipelineOptions options = Locking(counts);
    options.window = 8;
    const absl::StatusOr<PipelineRun> run = RunPipeline(graph.Build(), options);
    ASSERT_TRUE(run.ok());
    EXPECT_EQ(run->AllValues().size(), 3u);
    EXPECT_LE(probe.rows(), 3 + 8 + 8);
  }
}

}  // namespace
}  // namespace headrace
