// Pipelines end at any moment, from any thread, and leave no work running; those that run do not disturb each other.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "core/error.h"
#include "core/stop_signal.h"
#include "core/testing/patience.h"
#include "core/testing/rounds.h"
#include "engine/exec/pipeline.h"
#include "engine/testing/cooperative_threads.h"
#include "engine/testing/eventually.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "engine/testing/schedule_lanes.h"
#include "engine/testing/schedule_pause.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

const int kPipelineEndSchedules = Rounds(400, {.quick = 40, .sanitized = 40});

using ir::BoolValue;
using ir::IntsValue;
using ir::IntValue;
using PipelineEndOutcome = Pipeline::Outcome;

// A source and some work, in one lane or three.
ir::proto::Graph WorkingPipelineEnd(uint64_t seed, int64_t probe) {
  ScheduleRandom random(seed);
  FakeGraph graph;
  if (random.OneIn(3)) {
    graph.Add("fake_stream", {{"rows", IntValue(1'000'000)}, {"python", BoolValue(random.OneIn(2))}});
  } else {
    graph.Add("fake_count", {{"rows", IntValue(1'000'000)}, {"io", BoolValue(random.OneIn(2))}});
  }
  graph.Add("fake_work", {{"cost", IntValue(50)}, {"probe", IntValue(probe)}, {"python", BoolValue(random.OneIn(3))}});
  graph.Add("fake_window", {{"rows", IntValue(4)}});
  return graph.Build();
}

TEST(PipelineEnd, TellsWorkUnderWayToStop) {
  Probe& probe = Probe::At(11);
  probe.Reset();
  std::atomic<int> stopped = 0;
  probe.OnEnter([&stopped] { stopped += Eventually([] { return StopSignal::Raised(); }) ? 1 : 0; });
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(1000)}});
  graph.Add("fake_work", {{"probe", IntValue(11)}});
  auto pipeline = *Pipeline::Make(graph.Build(), {});
  ASSERT_TRUE(Eventually([&probe] { return probe.running() > 0; }));
  pipeline->Close();
  EXPECT_GT(stopped.load(), 0);
  EXPECT_FALSE(StopSignal::Raised());
  probe.Reset();
}

TEST(PipelineEnd, AnotherThreadMayCloseItAtAnyTime) {
  RunInLanes(kPipelineEndSchedules, [](int i, int lane) {
    SCOPED_TRACE(i);
    const int64_t number = 100 + lane;
    Probe& probe = Probe::At(number);
    probe.Reset();
    ScheduleRandom random(static_cast<uint64_t>(i));
    PipelineOptions options;
    options.pull = random.OneIn(4);
    options.window = static_cast<int>(random.Below(4));
    const auto made = Pipeline::Make(WorkingPipelineEnd(random.Below(1 << 30), number), options);
    ASSERT_TRUE(made.ok()) << made.status();
    Pipeline& pipeline = **made;
    const uint64_t patience = random.Below(600);
    std::vector<std::thread> closers;
    for (uint64_t closer = 0; closer < 1 + random.Below(2); ++closer) {
      closers.emplace_back([&pipeline, patience] {
        PauseSchedule(patience);
        pipeline.DescribeStall();
        pipeline.Close();
        pipeline.report();
      });
    }
    ResultRow row;
    absl::Status error;
    while (error.ok()) {
      const auto outcome = pipeline.Next(kTestPatience, row);
      error = outcome.status();
      if (outcome.ok()) {
        ASSERT_EQ(*outcome, PipelineEndOutcome::kRow);
      }
    }
    EXPECT_EQ(KindOf(error), ErrorKind::kClosed);
    pipeline.Ask(3);
    EXPECT_EQ(KindOf(pipeline.Next(kTestPatience, row).status()), ErrorKind::kClosed);
    for (std::thread& closer : closers) closer.join();
    EXPECT_EQ(probe.running(), 0);
  });
  std::printf("HEADRACE-COUNT schedules=%d\n", kPipelineEndSchedules);
}

// Such a task cannot wait for itself; the thread that destroys the pipeline elsewhere waits for it.
TEST(PipelineEnd, OneOfItsOwnTasksMayCloseIt) {
  Probe& probe = Probe::At(12);
  for (int i = 0; i < kPipelineEndSchedules; ++i) {
    SCOPED_TRACE(i);
    probe.Reset();
    ScheduleRandom random(2000 + static_cast<uint64_t>(i));
    std::atomic<Pipeline*> shared{nullptr};
    const auto rows = static_cast<int64_t>(random.Below(40));
    probe.OnEnter([&shared, &probe, rows] {
      Pipeline* const pipeline = shared.load();
      if (pipeline == nullptr || probe.rows() < rows) return;
      EXPECT_TRUE(pipeline->RunsHere());
      pipeline->Close();
    });
    PipelineOptions options;
    options.window = static_cast<int>(random.Below(4));
    auto made = Pipeline::Make(WorkingPipelineEnd(random.Below(1 << 30), 12), options);
    ASSERT_TRUE(made.ok()) << made.status();
    std::unique_ptr<Pipeline> pipeline = *std::move(made);
    shared = pipeline.get();
    std::thread closer([&pipeline, closes = random.OneIn(2)] {
      if (closes) pipeline->Close();
    });
    ResultRow row;
    absl::Status error;
    while (error.ok()) error = pipeline->Next(kTestPatience, row).status();
    EXPECT_EQ(KindOf(error), ErrorKind::kClosed);
    EXPECT_FALSE(pipeline->RunsHere());
    closer.join();
    pipeline.reset();
    EXPECT_EQ(probe.running(), 0);
  }
  probe.Reset();
  std::printf("HEADRACE-COUNT schedules=%d\n", kPipelineEndSchedules);
}

TEST(PipelineEnd, NoThreadWorksForADestroyedOne) {
  Probe& probe = Probe::At(11);
  for (int i = 0; i < kPipelineEndSchedules; ++i) {
    probe.Reset();
    ScheduleRandom random(1000 + static_cast<uint64_t>(i));
    PipelineOptions options;
    options.workers = static_cast<int>(random.Below(4));
    auto pipeline = Pipeline::Make(WorkingPipelineEnd(random.Below(1 << 30), 11), options);
    ASSERT_TRUE(pipeline.ok());
    for (uint64_t taken = random.Below(20); taken > 0; --taken) {
      ResultRow row;
      ASSERT_TRUE((*pipeline)->Next(kTestPatience, row).ok());
    }
    pipeline->reset();
    EXPECT_EQ(probe.running(), 0);
    const int64_t rows = probe.rows();
    PauseSchedule(40);
    EXPECT_EQ(probe.rows(), rows);
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", kPipelineEndSchedules);
}

TEST(PipelineEnd, ManyAtOnceDoNotDisturbEachOther) {
  constexpr int kPipelines = 8;
  std::vector<std::thread> users;
  std::atomic<int> failed{0};
  for (int user = 0; user < kPipelines; ++user) {
    users.emplace_back([user, &failed] {
      for (int run = 0; run < kPipelineEndSchedules / 20; ++run) {
        FakeGraph graph;
        graph.Add("fake_count", {{"rows", IntValue(60)}, {"io", BoolValue(user % 2 == 0)}});
        FakeGraph::Given work = {{"cost", IntValue(40)}};
        const bool fails = user % 4 == 3;
        if (fails) work.emplace_back("fail", IntsValue({20 + user}));
        graph.Add("fake_work", work);
        if (user % 3 == 0) graph.Add("fake_window");
        PipelineOptions options;
        options.epochs = {0, 1};
        const auto ran = RunPipeline(graph.Build(), options);
        ASSERT_TRUE(ran.ok()) << ran.status();
        std::vector<int64_t> expected = FirstValues(fails ? 20 + user : 60);
        EXPECT_EQ(ran->epochs[0], expected);
        EXPECT_EQ(ran->error.ok(), !fails);
        if (fails) {
          EXPECT_EQ(KindOf(ran->error), ErrorKind::kData);
          failed.fetch_add(1);
        } else {
          EXPECT_EQ(ran->epochs[1], expected);
        }
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(failed.load(), 2 * (kPipelineEndSchedules / 20));
  std::printf("HEADRACE-COUNT schedules=%d\n", kPipelines * (kPipelineEndSchedules / 20));
}

// Rows of the next epoch are ready before it is asked for, but no user function was called for them.
TEST(PipelineEnd, RunsAheadButNotIntoUsersCode) {
  Probe& ahead = Probe::At(12);
  Probe& users = Probe::At(13);
  Probe& source = Probe::At(14);
  for (const bool python_source : {false, true}) {
    for (Probe* probe : {&ahead, &users, &source}) probe->Reset();
    FakeGraph graph;
    graph.Add("fake_stream", {{"rows", IntValue(5)}, {"python", BoolValue(python_source)}, {"probe", IntValue(14)}});
    graph.Add("fake_work", {{"probe", IntValue(12)}});
    graph.Add("fake_work", {{"probe", IntValue(13)}, {"python", BoolValue(true)}});
    PipelineOptions options;
    options.epochs = {0, 100};
    const auto pipeline = Pipeline::Make(graph.Build(), options);
    ASSERT_TRUE(pipeline.ok());
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      (*pipeline)->Ask(static_cast<uint64_t>(epoch));
      ResultRow row;
      for (int i = 0; i < 5; ++i) {
        const auto outcome = (*pipeline)->Next(kTestPatience, row);
        ASSERT_TRUE(outcome.ok());
        EXPECT_EQ(*outcome, PipelineEndOutcome::kRow);
      }
      EXPECT_EQ(*(*pipeline)->Next(kTestPatience, row), PipelineEndOutcome::kEpochEnd);
      EXPECT_EQ(*(*pipeline)->Next(std::chrono::milliseconds(20), row), PipelineEndOutcome::kNothingYet);
      EXPECT_EQ(users.latest_epoch(), epoch);
      if (python_source) {
        EXPECT_EQ(source.latest_epoch(), epoch);
        EXPECT_EQ(ahead.latest_epoch(), epoch);
      } else {
        EXPECT_TRUE(Eventually([&ahead, epoch] { return ahead.latest_epoch() > epoch; }));
      }
    }
  }
}

TEST(PipelineEnd, NamesTheRowThatIsWorkedOn) {
  Probe& probe = Probe::At(15);
  for (const bool warm : {false, true}) {
    probe.Reset();
    FakeGraph graph;
    graph.Add("fake_count", {{"rows", IntValue(400)}});
    // The first row alone, or one of several that are light.
    const int64_t held = warm ? 300 : 0;
    graph.Add("fake_work", {{"probe", IntValue(15)}, {"hold", IntValue(held)}});
    const auto pipeline = Pipeline::Make(graph.Build(), PipelineOptions{});
    ASSERT_TRUE(pipeline.ok());
    ResultRow row;
    std::atomic<int64_t> taken{0};
    // This thread may be the one that works on it.
    std::thread user([&] {
      for (; taken < 400; ++taken) {
        ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), PipelineEndOutcome::kRow);
        EXPECT_EQ(CheckedValue(row), taken);
      }
    });
    std::vector<std::string> lines;
    EXPECT_TRUE(Eventually([&] {
      lines = (*pipeline)->DescribeStall();
      return probe.held() && lines.size() == 1 && lines[0].find("fake_work[1] has worked for ") == 0;
    })) << lines[0];
    EXPECT_LE(taken, held);
    EXPECT_NE(lines[0].find(" on the row epoch 0, key "), std::string::npos) << lines[0];
    if (!warm) {
      EXPECT_NE(lines[0].find("key 0 (record 0)"), std::string::npos) << lines[0];
    }
    // It was late, not lost.
    probe.Release();
    user.join();
    EXPECT_EQ(*(*pipeline)->Next(kTestPatience, row), PipelineEndOutcome::kEpochEnd);
    // The last task may still be cleaning up.
    EXPECT_TRUE(Eventually([&pipeline] {
      return (*pipeline)->DescribeStall()[0].find(" is idle with 0 messages queued") != std::string::npos;
    }));
  }
}

// A slow row blocks no other until the window is full, and no row outside the window is begun.
TEST(PipelineEnd, ASlowRowBlocksNoOtherWithinTheWindow) {
  Probe& probe = Probe::At(16);
  for (int i = 0; i < kPipelineEndSchedules / 4; ++i) {
    probe.Reset();
    FakeGraph graph;
    graph.Add("fake_count", {{"rows", IntValue(1000)}});
    // Heavy enough to go one row a task, and not to be done by the thread that takes the rows.
    graph.Add("fake_work",
              {{"probe", IntValue(16)}, {"hold", IntValue(20)}, {"cost", IntValue(400)}, {"steady", BoolValue(true)}});
    PipelineOptions options;
    options.window = 8;
    options.workers = 4;
    const auto pipeline = Pipeline::Make(graph.Build(), options);
    ASSERT_TRUE(pipeline.ok());
    ResultRow row;
    for (int64_t value = 0; value < 20; ++value)
      ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), PipelineEndOutcome::kRow);
    const bool full = Eventually([&probe] { return probe.held() && probe.rows() >= 20 + 8; });
    EXPECT_TRUE(full) << probe.rows() << " rows begun, run " << i;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(probe.rows(), 20 + 8);
    probe.Release();
    if (!full) break;
    ASSERT_EQ(*(*pipeline)->Next(kTestPatience, row), PipelineEndOutcome::kRow);
    EXPECT_EQ(CheckedValue(row), 20);
  }
}

TEST(PipelineEnd, CloseWaitsForTheRowThatIsWorkedOn) {
  Probe& probe = Probe::At(17);
  for (const bool pull : {true, false}) {
    probe.Reset();
    FakeGraph graph;
    graph.Add("fake_count", {{"rows", IntValue(20)}});
    graph.Add("fake_work", {{"probe", IntValue(17)}, {"hold", IntValue(2)}});
    graph.Add("fake_window", {{"rows", IntValue(1)}});
    PipelineOptions options;
    options.pull = pull;
    const auto made = Pipeline::Make(graph.Build(), options);
    ASSERT_TRUE(made.ok());
    Pipeline& pipeline = **made;
    absl::Status ended;
    std::thread user([&pipeline, &ended] {
      ResultRow row;
      while (ended.ok()) ended = pipeline.Next(kTestPatience, row).status();
    });
    EXPECT_TRUE(Eventually([&probe] { return probe.held(); }));
    std::atomic<bool> closed{false};
    std::thread closer([&pipeline, &closed] {
      pipeline.Close();
      closed.store(true);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(closed.load());
    probe.Release();
    closer.join();
    user.join();
    EXPECT_EQ(KindOf(ended), ErrorKind::kClosed) << ended;
    EXPECT_EQ(probe.running(), 0);
  }
}

// A user function that does not return blocks no thread. What it works with is kept until it returns.
TEST(PipelineEnd, CloseLeavesBehindWhatDoesNotReturn) {
  Probe& probe = Probe::At(18);
  for (const bool pull : {true, false}) {
    SCOPED_TRACE(pull);
    probe.Reset();
    FakeGraph graph;
    graph.Add("fake_count", {{"rows", IntValue(20)}, {"bytes", IntValue(1000)}});
    graph.Add("fake_work", {{"probe", IntValue(18)}, {"hold", IntValue(2)}, {"python", BoolValue(true)}});
    graph.Add("fake_work", {{"python", BoolValue(true)}});
    graph.Add("fake_window", {{"rows", IntValue(1)}});
    PipelineOptions options;
    options.pull = pull;
    auto made = Pipeline::Make(graph.Build(), options);
    ASSERT_TRUE(made.ok());
    std::unique_ptr<Pipeline> pipeline = *std::move(made);
    absl::Status ended;
    std::thread user([&pipeline, &ended] {
      ResultRow row;
      while (ended.ok()) ended = pipeline->Next(kTestPatience, row).status();
    });
    EXPECT_TRUE(Eventually([&probe] { return probe.held(); }));
    EXPECT_EQ(pipeline->Close(std::chrono::milliseconds(5)), Pipeline::Closed::kTooLate);
    if (!pull) user.join();
    EXPECT_EQ(pipeline->Close(std::chrono::milliseconds(1)), Pipeline::Closed::kTooLate);
    const int64_t begun = probe.rows();
    EXPECT_EQ(pipeline->DescribeStall().size(), 1u);
    pipeline->report();
    // On a thread that may wait.
    std::thread last([&pipeline] { pipeline.reset(); });
    probe.Release();
    if (pull) user.join();
    EXPECT_EQ(KindOf(ended), ErrorKind::kClosed) << ended;
    last.join();
    EXPECT_EQ(probe.running(), 0);
    EXPECT_EQ(probe.rows(), begun);
  }
}

// Each of several pipelines, in a user function, closes the next one.
TEST(PipelineEnd, SeveralMayCloseEachOther) {
  for (int i = 0; i < kPipelineEndSchedules; ++i) {
    SCOPED_TRACE(i);
    ScheduleRandom random(4000 + static_cast<uint64_t>(i));
    const size_t count = 2 + random.Below(3);
    std::vector<std::unique_ptr<Pipeline>> pipelines(count);
    std::atomic<size_t> inside{0};
    const bool meet = !random.OneIn(4);
    for (size_t at = 0; at < count; ++at) {
      Probe& probe = Probe::At(20 + static_cast<int64_t>(at));
      probe.Reset();
      const uint64_t pause = random.Below(20);
      probe.OnEnter([&, at, pause, began = std::make_shared<std::atomic<bool>>(false)] {
        if (began->exchange(true)) return;
        ++inside;
        inside.notify_all();
        // All of them are made, or all are inside.
        for (size_t seen = inside; meet && seen < count; seen = inside) inside.wait(seen);
        PauseSchedule(pause);
        Pipeline* const next = pipelines[(at + 1) % count].get();
        if (next != nullptr && meet) next->Close();
      });
    }
    for (size_t at = 0; at < count; ++at) {
      FakeGraph graph;
      graph.Add("fake_count", {{"rows", IntValue(1000)}});
      graph.Add("fake_work", {{"python", BoolValue(true)}, {"probe", IntValue(20 + static_cast<int64_t>(at))}});
      PipelineOptions options;
      options.epochs = {1, 1};
      auto made = Pipeline::Make(graph.Build(), options);
      ASSERT_TRUE(made.ok());
      pipelines[at] = *std::move(made);
    }
    for (auto& pipeline : pipelines) pipeline->Ask(1);
    if (meet) {
      ASSERT_TRUE(Eventually([&] { return inside == count; }));
    }
    for (auto& pipeline : pipelines) EXPECT_EQ(pipeline->Close(), Pipeline::Closed::kEntirely);
  }
  for (int64_t at = 20; at < 25; ++at) Probe::At(at).Reset();
  std::printf("HEADRACE-COUNT schedules=%d\n", kPipelineEndSchedules);
}

// A function iterates over a pipeline of its own, whose function closes the outer one.
TEST(PipelineEnd, ANestedOneMayCloseTheOuter) {
  for (const bool pull : {false, true}) {
    SCOPED_TRACE(pull);
    Probe& outer_probe = Probe::At(26);
    Probe& inner_probe = Probe::At(27);
    std::atomic<Pipeline*> outer{nullptr};
    std::atomic<int> rows{0};
    inner_probe.Reset();
    inner_probe.OnEnter([&outer] {
      outer.wait(nullptr);
      EXPECT_TRUE(outer.load()->RunsHere());
      EXPECT_EQ(outer.load()->Close(), Pipeline::Closed::kFromWithin);
    });
    outer_probe.Reset();
    outer_probe.OnEnter([&rows, pull] {
      FakeGraph graph;
      graph.Add("fake_count", {{"rows", IntValue(3)}});
      graph.Add("fake_work", {{"python", BoolValue(true)}, {"probe", IntValue(27)}});
      PipelineOptions options;
      options.pull = pull;
      const auto inner = Pipeline::Make(graph.Build(), options);
      ASSERT_TRUE(inner.ok());
      ResultRow row;
      while (*(*inner)->Next(kTestPatience, row) == PipelineEndOutcome::kRow) ++rows;
    });
    FakeGraph graph;
    graph.Add("fake_count", {{"rows", IntValue(1)}});
    graph.Add("fake_work", {{"python", BoolValue(true)}, {"probe", IntValue(26)}});
    PipelineOptions options;
    options.pull = pull;
    const auto made = Pipeline::Make(graph.Build(), options);
    ASSERT_TRUE(made.ok());
    outer = made->get();
    outer.notify_all();
    ResultRow row;
    absl::Status error;
    while (error.ok()) error = (*made)->Next(kTestPatience, row).status();
    EXPECT_EQ(KindOf(error), ErrorKind::kClosed);
    EXPECT_EQ((*made)->Close(), Pipeline::Closed::kEntirely);
    EXPECT_EQ(rows, 3);
    outer_probe.Reset();
    inner_probe.Reset();
  }
}

TEST(PipelineEnd, ARowCountsWhenItIsGiven) {
  for (const bool groups : {false, true}) {
    FakeGraph graph;
    graph.Add("fake_count", {{"rows", IntValue(7)}});
    if (groups) graph.Add("fake_group", {{"rows", IntValue(3)}});
    const auto make = [&graph](const Position& from) {
      PipelineOptions options;
      options.checkpoint = from.checkpoint;
      options.skip_rows = from.skip_rows;
      options.delivered = from.delivered;
      return *Pipeline::Make(graph.Build(), options);
    };
    const std::unique_ptr<Pipeline> pipeline = make({});
    const auto next_after = [&](const Position& position) {
      ResultRow row;
      const auto outcome = make(position)->Next(kTestPatience, row);
      return *outcome == PipelineEndOutcome::kRow ? CheckedValue(row) : 7;
    };
    ResultRow row;
    for (int64_t value = 0; value < 7; ++value) {
      ASSERT_EQ(*pipeline->Fetch(kTestPatience, row), PipelineEndOutcome::kRow);
      EXPECT_EQ(CheckedValue(row), value);
      EXPECT_EQ(pipeline->position().delivered, static_cast<uint64_t>(value));
      EXPECT_EQ(pipeline->report().delivered, static_cast<uint64_t>(value));
      EXPECT_EQ(next_after(pipeline->position()), value);
      // The next call of Fetch also counts the row.
      if (value % 2 == 0) continue;
      pipeline->Given();
      pipeline->Given();
      EXPECT_EQ(next_after(pipeline->position()), value + 1);
    }
    EXPECT_EQ(*pipeline->Fetch(kTestPatience, row), PipelineEndOutcome::kEpochEnd);
  }
}

// What a source gives in its first two epochs, run by hand.
std::vector<End> EndsOf(const FakeGraph& graph) {
  PipelineOptions options;
  options.idle = true;
  options.epochs = {0, 1};
  const auto pipeline = Pipeline::Make(graph.Build(), options);
  if (!pipeline.ok()) return {};
  Stage& source = *(*pipeline)->stages()[0];
  while (Task* const task = source.Claim()) source.Run(*task);
  std::vector<End> ends;
  bool was_full = false;
  while (auto message = source.output().TryPop(was_full)) ends.push_back((*message)->end);
  return ends;
}

TEST(PipelineEnd, NothingIsReadFromASourceThatCouldNotStart) {
  FakeGraph graph;
  graph.Add("fake_stream", {{"fail_start", BoolValue(true)}});
  EXPECT_EQ(EndsOf(graph), (std::vector<End>{End::kError, End::kEpoch, End::kError, End::kEpoch}));
}

TEST(PipelineEnd, NothingIsReadFromASourceThatFailed) {
  FakeGraph graph;
  graph.Add("fake_stream", {{"fail", IntValue(1)}});
  EXPECT_EQ(EndsOf(graph),
            (std::vector<End>{End::kNone, End::kError, End::kEpoch, End::kNone, End::kError, End::kEpoch}));
}

TEST(PipelineEnd, ClosesWhileNothingComes) {
  for (const bool python_source : {false, true}) {
    FakeGraph graph;
    graph.Add("fake_stream", {{"rows", IntValue(3)}, {"python", BoolValue(python_source)}});
    graph.Add("fake_work", {{"python", BoolValue(!python_source)}});
    PipelineOptions options;
    options.epochs = {7, 7};
    const auto pipeline = Pipeline::Make(graph.Build(), options);
    ASSERT_TRUE(pipeline.ok());
    // The epoch was not asked for, so nothing is called for it.
    ResultRow row;
    std::thread closer([&pipeline] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      (*pipeline)->Close();
    });
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(KindOf((*pipeline)->Next(kTestPatience, row).status()), ErrorKind::kClosed);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
    closer.join();
  }
}

}  // namespace
}  // namespace headrace
