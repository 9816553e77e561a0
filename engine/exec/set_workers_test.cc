// The number of tasks that a stage may run at once, fixed by the user before and during the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <semaphore>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/testing/patience.h"
#include "core/testing/rounds.h"
#include "engine/exec/pipeline.h"
#include "engine/testing/cooperative_threads.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "engine/testing/schedule_pause.h"

namespace headrace {
namespace {

const int kSetWorkersSchedules = Rounds(300, {.quick = 40, .sanitized = 40});

using ir::BoolValue;
using ir::IntValue;
using ::testing::HasSubstr;

constexpr char kWork[] = "fake_work[1]";

// Rows that cost so much that each is a task of its own.
FakeGraph WorkingSetWorkers(int64_t rows, int64_t cost, int64_t probe) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(rows)}});
  graph.Add("fake_work", {{"cost", IntValue(cost)}, {"steady", BoolValue(true)}, {"probe", IntValue(probe)}});
  return graph;
}

TEST(SetWorkers, BoundsWhatMayBeClaimed) {
  PipelineOptions options;
  options.idle = true;
  options.limits[kWork].workers = 2;
  const std::unique_ptr<Pipeline> pipeline = *Pipeline::Make(WorkingSetWorkers(40, 100, 1).Build(), options);
  pipeline->Ask(0);
  Stage& work = *pipeline->stages()[0];
  Stage& source = *pipeline->stages()[1];
  while (Task* const task = source.Claim()) source.Run(*task);
  // The first row runs alone, because its size is not known.
  Task* const first = work.Claim();
  ASSERT_NE(first, nullptr);
  work.Run(*first);
  std::vector<Task*> claimed;
  const auto claim_all = [&] {
    while (Task* const task = work.Claim()) claimed.push_back(task);
    return claimed.size();
  };
  const auto run_one = [&] {
    work.Run(*claimed.back());
    claimed.pop_back();
  };
  EXPECT_EQ(claim_all(), 2u);
  ASSERT_TRUE(pipeline->SetWorkers(kWork, 5).ok());
  EXPECT_EQ(claim_all(), 5u);
  ASSERT_TRUE(pipeline->SetWorkers(kWork, 1).ok());
  while (claimed.size() > 1) {
    run_one();
    EXPECT_EQ(work.Claim(), nullptr) << claimed.size();
  }
  run_one();
  EXPECT_EQ(claim_all(), 1u);
  pipeline->ResetWorkers();
  EXPECT_EQ(claim_all(), 2u);
  while (!claimed.empty()) run_one();
}

TEST(SetWorkers, NeverRunsMoreAtOnce) {
  Probe& probe = Probe::At(2);
  probe.OnEnter(nullptr);
  for (int i = 0; i < kSetWorkersSchedules && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    ScheduleRandom random(static_cast<uint64_t>(i));
    probe.Reset();
    PipelineOptions options;
    options.cores = 1 + static_cast<int>(random.Below(3));
    StageLimits& limits = options.limits[kWork];
    limits.workers = 1 + static_cast<int>(random.Below(4));
    limits.window = static_cast<int>(random.Below(5));
    const auto run = RunPipeline(WorkingSetWorkers(30, random.OneIn(2) ? 40 : 0, 2).Build(), options);
    ASSERT_TRUE(run.ok()) << DescribeError(run.status());
    EXPECT_EQ(run->AllValues(), FirstValues(30));
    EXPECT_LE(probe.widest(), limits.workers);
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kSetWorkersSchedules);
}

TEST(SetWorkers, KeepsToTheLargestNumberSetDuringTheRun) {
  Probe& probe = Probe::At(3);
  probe.OnEnter(nullptr);
  for (int i = 0; i < kSetWorkersSchedules / 3 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    ScheduleRandom random(1'000'000 + static_cast<uint64_t>(i));
    probe.Reset();
    PipelineOptions options;
    options.limits[kWork].workers = 1;
    const bool python = random.OneIn(4);
    FakeGraph graph;
    graph.Add("fake_count", {{"rows", IntValue(60)}});
    graph.Add("fake_work", {{"cost", IntValue(60)}, {"probe", IntValue(3)}, {"python", BoolValue(python)}});
    const std::unique_ptr<Pipeline> pipeline = *Pipeline::Make(graph.Build(), options);
    pipeline->Ask(0);
    std::atomic<bool> over{false};
    std::thread setter([&, own = ScheduleRandom(static_cast<uint64_t>(i))]() mutable {
      while (!over.load()) {
        const absl::Status set = pipeline->SetWorkers(kWork, 1 + static_cast<int>(own.Below(3)));
        EXPECT_TRUE(set.ok()) << DescribeError(set);
        PauseSchedule(own.Below(60));
      }
    });
    std::vector<int64_t> values;
    ResultRow row;
    while (values.size() < 60 && *pipeline->Next(kTestPatience, row) == Pipeline::Outcome::kRow) {
      values.push_back(CheckedValue(row));
    }
    over.store(true);
    setter.join();
    EXPECT_EQ(values, FirstValues(60));
    EXPECT_LE(probe.widest(), 3);
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kSetWorkersSchedules / 3);
}

// Tasks after the first wait inside until they are let go.
class HeldTasks {
 public:
  explicit HeldTasks(Probe& probe) : probe_(probe) {
    probe_.Reset();
    probe_.OnEnter([this] {
      if (first_.exchange(false)) return;
      entered_.release();
      go_.wait(false);
    });
  }
  ~HeldTasks() { probe_.OnEnter(nullptr); }
  bool WaitForOne() { return entered_.try_acquire_for(kTestPatience); }
  void LetGo() {
    go_.store(true);
    go_.notify_all();
  }

 private:
  Probe& probe_;
  std::atomic<bool> first_{true};
  std::counting_semaphore<> entered_{0};
  std::atomic<bool> go_{false};
};

void ExpectRaisingActs(bool python) {
  Probe& probe = Probe::At(4);
  HeldTasks held(probe);
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(20)}});
  graph.Add(
      "fake_work",
      {{"cost", IntValue(400)}, {"steady", BoolValue(true)}, {"probe", IntValue(4)}, {"python", BoolValue(python)}});
  PipelineOptions options;
  options.limits[kWork].workers = 1;
  const std::unique_ptr<Pipeline> pipeline = *Pipeline::Make(graph.Build(), options);
  pipeline->Ask(0);
  EXPECT_TRUE(held.WaitForOne());
  EXPECT_EQ(probe.running(), 1);
  // Nothing else would wake a thread.
  EXPECT_TRUE(pipeline->SetWorkers(kWork, 3).ok());
  EXPECT_TRUE(held.WaitForOne());
  EXPECT_TRUE(held.WaitForOne());
  EXPECT_EQ(probe.running(), 3);
  held.LetGo();
  ResultRow row;
  for (int64_t value = 0; value < 20; ++value) {
    ASSERT_EQ(*pipeline->Next(kTestPatience, row), Pipeline::Outcome::kRow);
    EXPECT_EQ(CheckedValue(row), value);
  }
  EXPECT_LE(probe.widest(), 3);
  EXPECT_EQ(pipeline->report().stages[0].set_cap, 3);
  EXPECT_EQ(pipeline->Close(), Pipeline::Closed::kEntirely);
}

TEST(SetWorkers, ActsWhileTheRunWaits) { ExpectRaisingActs(false); }

TEST(SetWorkers, AddsThreadsThatCallPython) { ExpectRaisingActs(true); }

TEST(SetWorkers, RefusesWhatCannotBe) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(4)}, {"io", BoolValue(true)}});
  graph.Add("fake_work");
  graph.Add("fake_window");
  const std::unique_ptr<Pipeline> pipeline = *Pipeline::Make(graph.Build(), {});
  const absl::Status unknown = pipeline->SetWorkers("map[1]", 2);
  EXPECT_EQ(KindOf(unknown), ErrorKind::kGraph);
  EXPECT_THAT(DescribeError(unknown), HasSubstr("those that do are fake_window[2], fake_work[1], fake_count[0]"));
  EXPECT_TRUE(pipeline->SetWorkers("fake_window[2]", 1).ok());
  const absl::Status ordered = pipeline->SetWorkers("fake_window[2]", 2);
  EXPECT_EQ(KindOf(ordered), ErrorKind::kUnsupported);
  EXPECT_THAT(DescribeError(ordered), HasSubstr("it takes its rows one after the other"));
  EXPECT_TRUE(pipeline->SetWorkers("fake_count[0]", PlannedStage::kMostReads).ok());
  EXPECT_THAT(DescribeError(pipeline->SetWorkers("fake_count[0]", PlannedStage::kMostReads + 1)),
              HasSubstr("at most 64 of its reads are outstanding at once"));
  pipeline->Close();
  EXPECT_EQ(KindOf(pipeline->SetWorkers(kWork, 2)), ErrorKind::kClosed);
  pipeline->ResetWorkers();
}

}  // namespace
}  // namespace headrace
