// What the user's thread does while it waits.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <thread>
#include <vector>

#include "core/testing/patience.h"
#include "core/testing/rounds.h"
#include "engine/exec/pipeline.h"
#include "engine/exec/worker_pool.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "engine/testing/schedule_pause.h"

namespace headrace {
namespace {

const int kRounds = Rounds(1000, {.quick = 100, .sanitized = 40});

using ir::BoolValue;
using ir::IntValue;
using PipelineWaitingOutcome = Pipeline::Outcome;

// Keeps every thread of a pool from doing other work while it exists.
class PoolHold {
 public:
  explicit PoolHold(WorkerPool& pool) : pool_(pool) {
    while (static_cast<int>(holders_.size()) < pool.threads()) pool.Signal(&holders_.emplace_back(*this));
    while (held_.load() < static_cast<int>(holders_.size())) PauseSchedule(40);
  }
  ~PoolHold() {
    over_.store(true);
    over_.notify_all();
    for (Holder& holder : holders_) pool_.Remove(&holder);
  }

 private:
  struct Holder : PoolClient {
    explicit Holder(PoolHold& hold) : hold(hold) {}
    bool RunOne() override {
      hold.held_.fetch_add(1);
      hold.over_.wait(false);
      return false;
    }
    PoolHold& hold;
  };

  WorkerPool& pool_;
  std::deque<Holder> holders_;
  std::atomic<int> held_{0};
  std::atomic<bool> over_{false};
};

// Takes so many rows, in order. False: they did not come in time.
bool TakesRows(Pipeline& pipeline, std::chrono::nanoseconds limit, int64_t rows, int64_t& value) {
  ResultRow row;
  for (; rows > 0; --rows) {
    if (*pipeline.Next(limit, row) != PipelineWaitingOutcome::kRow) return false;
    EXPECT_EQ(CheckedValue(row), value++);
  }
  return true;
}

TEST(PipelineWaiting, TheUsersThreadDoesLightWork) {
  for (const bool io : {false, true}) {
    FakeGraph graph;
    graph.Add("fake_count", {{"rows", IntValue(1'000'000)}, {"io", BoolValue(io)}});
    const auto pipeline = Pipeline::Make(graph.Build(), PipelineOptions{});
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    int64_t value = 0;
    bool taken = false;
    // Tries again if a thread was delayed so long that the work seemed heavy.
    for (int attempt = 0; attempt < 20 && !taken; ++attempt) {
      ASSERT_TRUE(TakesRows(**pipeline, kTestPatience, 1000, value));
      const PoolHold hold(io ? WorkerPool::Io() : WorkerPool::Cpu());
      taken = TakesRows(**pipeline, std::chrono::seconds(1), 1000, value);
    }
    EXPECT_TRUE(taken);
    // Threads that are free again continue.
    EXPECT_TRUE(TakesRows(**pipeline, kTestPatience, 1000, value));
  }
}

// If one task runs at a time, workers find nothing to do while the user's thread runs it.
TEST(PipelineWaiting, WhatTheUsersThreadLeavesIsPassedOn) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(1'000'000)}, {"io", BoolValue(true)}});
  PipelineOptions options;
  options.workers = 1;
  const auto pipeline = Pipeline::Make(graph.Build(), options);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  MessageConnector& result = (*pipeline)->stages()[0]->output();
  int64_t value = 0;
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_TRUE(TakesRows(**pipeline, kTestPatience, 2 * result.window() + round, value));
    const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
    while (result.queued() < result.window() && std::chrono::steady_clock::now() < deadline) PauseSchedule(40);
    ASSERT_EQ(result.queued(), result.window()) << round;
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kRounds);
}

TEST(PipelineWaiting, ASlowRowLeavesTheNextOnesToWorkers) {
  constexpr int64_t kSlow = 3000;
  Probe& probe = Probe::At(19);
  probe.Reset();
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(1'000'000)}});
  graph.Add("fake_work", {{"probe", IntValue(19)}, {"hold", IntValue(kSlow)}});
  const auto pipeline = Pipeline::Make(graph.Build(), PipelineOptions{});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  int64_t value = 0;
  ASSERT_TRUE(TakesRows(**pipeline, kTestPatience, 1000, value));
  std::thread slow([&probe] {
    while (!probe.held()) PauseSchedule(40);
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    probe.Release();
  });
  {
    const PoolHold hold(WorkerPool::Cpu());
    TakesRows(**pipeline, std::chrono::milliseconds(200), 2 * kSlow, value);
    // It may have begun as many rows as a task and the queues hold.
    EXPECT_LT(value, kSlow + 400);
  }
  EXPECT_TRUE(TakesRows(**pipeline, kTestPatience, 2 * kSlow, value));
  slow.join();
}

TEST(PipelineWaiting, TheReportHasNoTimeDuringTheFirstWait) {
  Probe& probe = Probe::At(90);
  probe.Reset();
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(20)}});
  graph.Add("fake_work", {{"probe", IntValue(90)}});
  PipelineOptions options;
  options.pull = true;
  const auto pipeline = *Pipeline::Make(graph.Build(), options);
  std::vector<double> seen;
  probe.OnEnter([&] { seen.push_back(pipeline->report().wall_s); });
  int64_t value = 0;
  EXPECT_TRUE(TakesRows(*pipeline, kTestPatience, 20, value));
  probe.OnEnter(nullptr);
  ASSERT_EQ(seen.size(), 20U);
  EXPECT_EQ(seen[0], 0);
  for (const double wall : seen) {
    EXPECT_GE(wall, 0);
    EXPECT_LE(wall, pipeline->report().wall_s);
  }
}

}  // namespace
}  // namespace headrace
