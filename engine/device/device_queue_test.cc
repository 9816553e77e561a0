// The queue of a device in host memory: order, epochs, states, errors, memory and ends, over many schedules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/testing/patience.h"
#include "core/testing/rounds.h"
#include "engine/device/device_iteration.h"
#include "engine/device/device_name.h"
#include "engine/device/testing/faulty_device.h"
#include "engine/testing/cooperative_threads.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "engine/testing/schedule_lanes.h"
#include "engine/testing/schedule_pause.h"

namespace headrace {
namespace {

const int kSchedules = Rounds(600, {.quick = 60, .sanitized = 60});

using ir::BoolValue;
using ir::IntsValue;
using ir::IntValue;
using DeviceQueueOutcome = Pipeline::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kDeviceQueueRows = 30;
constexpr int64_t kDeviceQueueRowBytes = 1000;
// Of a row on the device: its value and its data, each from an aligned place on.
constexpr int64_t kDeviceQueueBufferBytes = 256 + 1024;

FakeGraph CountingDeviceQueue(int64_t rows = kDeviceQueueRows) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(rows)}, {"bytes", IntValue(kDeviceQueueRowBytes)}});
  graph.Add("fake_work", {{"copy", BoolValue(true)}, {"cost", IntValue(20)}});
  return graph;
}

IterateOptions OptionsWithDeviceQueue(int depth, int64_t memory = 0) {
  IterateOptions options;
  options.device = PlannedDevice{.name = "cpu:0", .depth = depth, .memory = memory};
  return options;
}

struct DeviceQueueRan {
  std::vector<int64_t> values;
  std::vector<std::string> states;  // after each row
  absl::Status error;
};

// Takes the next row into `row`; false: the epoch ended, or an error came.
bool TakeRow(DeviceIteration& iteration, DeviceRow& row, DeviceQueueRan& ran) {
  const absl::StatusOr<DeviceQueueOutcome> outcome = iteration.Fetch(kTestPatience, row);
  ran.error = outcome.status();
  if (!outcome.ok() || *outcome == DeviceQueueOutcome::kEpochEnd) return false;
  EXPECT_EQ(*outcome, DeviceQueueOutcome::kRow);
  iteration.Given();
  ran.values.push_back(CheckedValue(row));
  const absl::StatusOr<std::string> state = iteration.State();
  EXPECT_TRUE(state.ok());
  ran.states.push_back(*state);
  return true;
}

// One epoch.
DeviceQueueRan RunEpochDeviceQueue(DeviceIteration& iteration) {
  DeviceQueueRan ran;
  DeviceRow row;
  while (TakeRow(iteration, row, ran)) {
  }
  return ran;
}

std::vector<int64_t> Numbers(int64_t from, int64_t to) {
  std::vector<int64_t> values;
  for (int64_t i = from; i < to; ++i) values.push_back(i);
  return values;
}

std::unique_ptr<DeviceIteration> Start(const std::shared_ptr<Device>& device, const FakeGraph& graph,
                                       const IterateOptions& options) {
  auto iteration = DeviceIteration::StartOn(device, graph.Build(), options);
  EXPECT_TRUE(iteration.ok()) << iteration.status();
  (*iteration)->Ask((*iteration)->epoch());
  return *std::move(iteration);
}

// A reference would be into a pipeline that the queue's thread may replace.
static_assert(!std::is_reference_v<decltype(std::declval<DeviceIteration>().schema())>);
static_assert(!std::is_reference_v<decltype(std::declval<Iteration>().schema())>);

TEST(DeviceQueue, GivesTheStatesOfARunWithoutIt) {
  const FakeGraph graph = CountingDeviceQueue();
  // Rows in one message have the checkpoint of the message before.
  IterateOptions alone;
  alone.group = 1;
  auto plain = *DeviceIteration::Start(graph.Build(), alone);
  plain->Ask(0);
  const DeviceQueueRan expected = RunEpochDeviceQueue(*plain);
  EXPECT_EQ(expected.values, Numbers(0, kDeviceQueueRows));
  for (const bool pull : {false, true}) {
    const auto device = std::make_shared<FaultyDevice>();
    IterateOptions options = OptionsWithDeviceQueue(2);
    options.pull = pull;
    options.group = 1;
    auto iteration = Start(device, graph, options);
    const DeviceQueueRan ran = RunEpochDeviceQueue(*iteration);
    EXPECT_EQ(ran.values, expected.values);
    EXPECT_TRUE(ran.states == expected.states);
    EXPECT_TRUE(ran.error.ok()) << ran.error;
    EXPECT_EQ(device->copies(), kDeviceQueueRows);
    iteration.reset();
    EXPECT_EQ(device->lent(), 0);
  }
}

TEST(DeviceQueue, GoesOnFromEveryState) {
  const FakeGraph graph = CountingDeviceQueue(8);
  const auto device = std::make_shared<FaultyDevice>();
  const DeviceQueueRan whole = RunEpochDeviceQueue(*Start(device, graph, OptionsWithDeviceQueue(3)));
  for (size_t step = 0; step < whole.states.size(); ++step) {
    IterateOptions options = OptionsWithDeviceQueue(3);
    options.state = whole.states[step];
    EXPECT_EQ(RunEpochDeviceQueue(*Start(device, graph, options)).values, Numbers(static_cast<int64_t>(step) + 1, 8));
  }
}

TEST(DeviceQueue, RunsEpochAfterEpoch) {
  const auto device = std::make_shared<FaultyDevice>();
  IterateOptions options = OptionsWithDeviceQueue(4);
  options.endless = true;
  auto iteration = Start(device, CountingDeviceQueue(5), options);
  for (uint64_t epoch = 0; epoch < 4; ++epoch) {
    iteration->Ask(epoch);
    EXPECT_EQ(iteration->epoch(), epoch);
    EXPECT_EQ(RunEpochDeviceQueue(*iteration).values, Numbers(0, 5));
  }
  EXPECT_EQ(iteration->epoch(), 4U);
}

TEST(DeviceQueue, RunsTheUsersFunctionsForNoEpochThatWasNotAskedFor) {
  Probe& probe = Probe::At(71);
  probe.Reset();
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(5)}});
  graph.Add("fake_work", {{"probe", IntValue(71)}, {"python", BoolValue(true)}});
  IterateOptions options = OptionsWithDeviceQueue(8);
  options.endless = true;
  auto iteration = Start(std::make_shared<FaultyDevice>(), graph, options);
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    iteration->Ask(epoch);
    EXPECT_EQ(RunEpochDeviceQueue(*iteration).values, Numbers(0, 5));
    EXPECT_EQ(probe.latest_epoch(), static_cast<int64_t>(epoch));
  }
}

TEST(DeviceQueue, KeepsAsManyAheadAsItMay) {
  const auto device = std::make_shared<FaultyDevice>();
  auto iteration = Start(device, CountingDeviceQueue(), OptionsWithDeviceQueue(3));
  DeviceQueueRan ran;
  DeviceRow row;
  ASSERT_TRUE(TakeRow(*iteration, row, ran));
  // The thread goes to sleep once it holds three; it holds no more after it had all the time it needs.
  while (iteration->report().device->ready < 3) std::this_thread::yield();
  for (int i = 0; i < 1000; ++i) {
    const DeviceReport report = *iteration->report().device;
    ASSERT_EQ(report.ready, 3);
    ASSERT_EQ(report.batches, 4U);
    ASSERT_LE(report.buffers, 4);
  }
}

// The queue's line, once it has this text, or after a long time.
std::string DescribedWith(DeviceIteration& iteration, std::string_view text) {
  const auto until = std::chrono::steady_clock::now() + kTestPatience;
  std::string line;
  do {
    std::this_thread::yield();
    line = iteration.DescribeStall()[0];
  } while (line.find(text) == std::string::npos && std::chrono::steady_clock::now() < until);
  return line;
}

TEST(DeviceQueue, KeepsAsManyEpochsWithoutRowsAhead) {
  IterateOptions options = OptionsWithDeviceQueue(3);
  options.endless = true;
  auto iteration = Start(std::make_shared<FaultyDevice>(), CountingDeviceQueue(0), options);
  for (uint64_t epoch = 0; epoch < 10; ++epoch) {
    EXPECT_EQ(RunEpochDeviceQueue(*iteration).values, Numbers(0, 0));
    EXPECT_EQ(iteration->epoch(), epoch + 1);
    constexpr std::string_view kFull = "holds 0 batches and 3 ends of epochs, as many as it may";
    ASSERT_THAT(DescribedWith(*iteration, kFull), HasSubstr(kFull));
    for (int i = 0; i < 100; ++i) ASSERT_THAT(iteration->DescribeStall()[0], HasSubstr(kFull));
  }
}

TEST(DeviceQueue, GrowsForRowsThatAreKeptUpToItsBudget) {
  const auto device = std::make_shared<FaultyDevice>();
  auto iteration = Start(device, CountingDeviceQueue(), OptionsWithDeviceQueue(2, 10 * kDeviceQueueBufferBytes));
  DeviceQueueRan ran;
  std::vector<DeviceRow> kept(1);
  while (TakeRow(*iteration, kept.back(), ran)) kept.emplace_back();
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kResource);
  EXPECT_THAT(
      std::string(ran.error.message()),
      HasSubstr("the loop keeps 10 batches on cpu:0, and there is no memory for the next one of 1.2 KiB: let go"));
  EXPECT_EQ(ran.values, Numbers(0, 10));
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(CheckedValue(kept[static_cast<size_t>(i)]), i);
  // The error stays, and kept rows outlive the iteration.
  DeviceRow none;
  EXPECT_EQ(iteration->Fetch(kTestPatience, none).status(), ran.error);
  EXPECT_EQ(ran.states.back(), *iteration->State());
  iteration.reset();
  EXPECT_EQ(device->lent(), 10);
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(CheckedValue(kept[static_cast<size_t>(i)]), i);
  kept.clear();
  EXPECT_EQ(device->lent(), 0);
}

// Whether the loop gets the next row, where `free` is called with the device and the row before, which fills the
// device, only while the loop waits.
using Free = void (*)(FaultyDevice&, DeviceRow&);
bool GoesOnWhereAnotherThreadFrees(Free free, bool pull) {
  const auto device = std::make_shared<FaultyDevice>();
  device->room = 1;
  IterateOptions options = OptionsWithDeviceQueue(2);
  options.pull = pull;
  auto iteration = Start(device, CountingDeviceQueue(), options);
  DeviceQueueRan ran;
  DeviceRow first, next;
  EXPECT_TRUE(TakeRow(*iteration, first, ran));
  std::atomic<bool> over{false};
  std::thread other([&] {
    constexpr std::string_view kWaits = "waits for the loop, which wants the next one, to let go of one";
    while (!over && iteration->DescribeStall()[0].find(kWaits) == std::string::npos) std::this_thread::yield();
    if (!over) free(*device, first);
  });
  const bool taken = TakeRow(*iteration, next, ran);
  over = true;
  other.join();
  return taken;
}

TEST(DeviceQueue, GoesOnWhereMemoryIsFreedWhileTheLoopWaits) {
  const Free lets_go = [](FaultyDevice& /*device*/, DeviceRow& row) { row = {}; };
  const Free has_more = [](FaultyDevice& device, DeviceRow& /*row*/) { device.room = 2; };
  for (const auto& [free, pull] : {std::pair(lets_go, false), std::pair(lets_go, true), std::pair(has_more, false)}) {
    bool taken = false;
    // Tries again if the other thread was delayed for longer than that is waited for.
    for (int attempt = 0; attempt < 5 && !taken; ++attempt) taken = GoesOnWhereAnotherThreadFrees(free, pull);
    EXPECT_TRUE(taken) << pull;
  }
}

TEST(DeviceQueue, GoesOnWithinItsBudgetWhereRowsAreLetGoInAnotherOrder) {
  const auto device = std::make_shared<FaultyDevice>();
  auto iteration = Start(device, CountingDeviceQueue(300), OptionsWithDeviceQueue(3, 8 * kDeviceQueueBufferBytes));
  ScheduleRandom random(5);
  DeviceQueueRan ran;
  std::vector<std::pair<int64_t, DeviceRow>> kept;
  DeviceRow row;
  while (TakeRow(*iteration, row, ran)) {
    kept.emplace_back(ran.values.back(), std::move(row));
    row = {};
    if (kept.size() == 7) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(random.Below(7)));
    for (const auto& [value, each] : kept) ASSERT_EQ(CheckedValue(each), value);
    ASSERT_LE(device->lent(), 8);
  }
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_EQ(ran.values, Numbers(0, 300));
}

TEST(DeviceQueue, LetsGoOfBuffersThatItNeedsNoMore) {
  const auto device = std::make_shared<FaultyDevice>();
  auto iteration = Start(device, CountingDeviceQueue(100), OptionsWithDeviceQueue(2));
  DeviceQueueRan ran;
  std::vector<DeviceRow> kept(20);
  for (DeviceRow& row : kept) ASSERT_TRUE(TakeRow(*iteration, row, ran));
  EXPECT_GE(device->lent(), 20);
  kept.clear();
  DeviceRow row;
  while (TakeRow(*iteration, row, ran)) {
  }
  EXPECT_LE(device->lent(), 5);
  EXPECT_EQ(ran.values, Numbers(0, 100));
}

TEST(DeviceQueue, RefusesABatchBeyondItsBudget) {
  auto iteration = Start(std::make_shared<FaultyDevice>(), CountingDeviceQueue(),
                         OptionsWithDeviceQueue(2, kDeviceQueueBufferBytes - 1));
  const DeviceQueueRan ran = RunEpochDeviceQueue(*iteration);
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kResource);
  EXPECT_THAT(std::string(ran.error.message()), HasSubstr("a batch takes 1.2 KiB on cpu:0"));
}

TEST(DeviceQueue, GivesARowsErrorAfterTheRowsBeforeIt) {
  FakeGraph graph = CountingDeviceQueue();
  graph.Add("fake_work", {{"fail", IntsValue({7})}});
  for (const bool pull : {false, true}) {
    IterateOptions options = OptionsWithDeviceQueue(5);
    options.pull = pull;
    const DeviceQueueRan ran = RunEpochDeviceQueue(*Start(std::make_shared<FaultyDevice>(), graph, options));
    EXPECT_EQ(ran.values, Numbers(0, 7));
    EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
  }
}

TEST(DeviceQueue, GivesADevicesErrorAfterTheRowsBeforeIt) {
  for (int at = 0; at < 6; ++at) {
    for (const bool pull : {false, true}) {
      const auto device = std::make_shared<FaultyDevice>();
      device->fail_copy = at;
      IterateOptions options = OptionsWithDeviceQueue(3);
      options.pull = pull;
      auto iteration = Start(device, CountingDeviceQueue(), options);
      const DeviceQueueRan ran = RunEpochDeviceQueue(*iteration);
      EXPECT_EQ(ran.values, Numbers(0, at));
      EXPECT_EQ(KindOf(ran.error), ErrorKind::kResource);
      EXPECT_EQ(GetErrorField(ran.error, ErrorField::kOperator), "to_device(\"cpu:0\")");
      iteration.reset();
      EXPECT_EQ(device->lent(), 0);
    }
  }
}

TEST(DeviceQueue, LosesNoRowSilentlyWhereTheHostHasNoMemory) {
  for (int at = 0; at < 4; ++at) {
    for (const bool pull : {false, true}) {
      const auto device = std::make_shared<FaultyDevice>();
      device->throw_copy = at;
      IterateOptions options = OptionsWithDeviceQueue(3);
      options.pull = pull;
      auto iteration = Start(device, CountingDeviceQueue(), options);
      const DeviceQueueRan ran = RunEpochDeviceQueue(*iteration);
      EXPECT_EQ(ran.values, Numbers(0, at));
      EXPECT_EQ(KindOf(ran.error), ErrorKind::kResource);
      DeviceRow none;
      EXPECT_EQ(iteration->Fetch(kTestPatience, none).status(), ran.error);
      EXPECT_EQ(iteration->delivered(), static_cast<uint64_t>(at));
      iteration.reset();
      EXPECT_EQ(device->lent(), 0);
    }
  }
}

TEST(DeviceQueue, WorksWithTheBuffersThatTheDeviceHasMemoryFor) {
  const auto device = std::make_shared<FaultyDevice>();
  // The loop holds a row while it waits for the next one.
  device->room = 2;
  EXPECT_EQ(RunEpochDeviceQueue(*Start(device, CountingDeviceQueue(), OptionsWithDeviceQueue(3))).values,
            Numbers(0, kDeviceQueueRows));
  const auto empty = std::make_shared<FaultyDevice>();
  empty->room = 0;
  const DeviceQueueRan ran = RunEpochDeviceQueue(*Start(empty, CountingDeviceQueue(), OptionsWithDeviceQueue(3)));
  EXPECT_THAT(std::string(ran.error.message()), HasSubstr("the device has no memory, says the test"));
}

TEST(DeviceQueue, SaysWhyTheDeviceHasNoMoreMemoryForRowsThatAreKept) {
  const auto device = std::make_shared<FaultyDevice>();
  device->room = 5;
  auto iteration = Start(device, CountingDeviceQueue(), OptionsWithDeviceQueue(2));
  DeviceQueueRan ran;
  std::vector<DeviceRow> kept(1);
  while (TakeRow(*iteration, kept.back(), ran)) kept.emplace_back();
  EXPECT_EQ(ran.values, Numbers(0, 5));
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kResource);
  EXPECT_THAT(std::string(ran.error.message()), HasSubstr("the loop keeps 5 batches on cpu:0"));
  EXPECT_THAT(std::string(ran.error.message()), HasSubstr("the device has no memory, says the test"));
}

TEST(DeviceQueue, BlamesAFaultOfTheDeviceOnNoLoopThatKeepsRows) {
  const auto device = std::make_shared<FaultyDevice>();
  auto iteration = Start(device, CountingDeviceQueue(), OptionsWithDeviceQueue(2));
  DeviceQueueRan ran;
  std::vector<DeviceRow> kept(4);
  for (DeviceRow& row : kept) ASSERT_TRUE(TakeRow(*iteration, row, ran));
  device->faulty = true;
  DeviceRow row;
  std::deque<DeviceRow> more;
  while (TakeRow(*iteration, row, ran)) more.push_back(std::move(row));
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kResource);
  EXPECT_EQ(ran.error.message(), "the device is broken, says the test");
}

TEST(DeviceQueue, ReportsWhatItDid) {
  auto iteration = Start(std::make_shared<FaultyDevice>(), CountingDeviceQueue(), OptionsWithDeviceQueue(3, 1 << 20));
  RunEpochDeviceQueue(*iteration);
  const Report report = iteration->report();
  EXPECT_EQ(report.delivered, static_cast<uint64_t>(kDeviceQueueRows));
  EXPECT_GT(report.wall_s, 0);
  EXPECT_GE(report.wall_s, report.user_wait_s);
  EXPECT_EQ(report.device->name, "cpu:0");
  EXPECT_EQ(report.device->batches, static_cast<uint64_t>(kDeviceQueueRows));
  EXPECT_EQ(report.device->bytes, static_cast<uint64_t>(kDeviceQueueRows * (kDeviceQueueRowBytes + 8)));
  EXPECT_EQ(report.device->staged_bytes, 0U);
  EXPECT_EQ(report.device->budget_bytes, 1 << 20);
  EXPECT_EQ(report.device->ready, 0);
}

TEST(DeviceQueue, ReportsNoTimeDuringTheFirstWait) {
  const auto device = std::make_shared<FaultyDevice>();
  IterateOptions options = OptionsWithDeviceQueue(3);
  options.pull = true;
  auto iteration = Start(device, CountingDeviceQueue(), options);
  double least = 0, most = 0;
  device->watch = [&] {
    const double wall = iteration->report().wall_s;
    least = std::min(least, wall);
    most = std::max(most, wall);
  };
  RunEpochDeviceQueue(*iteration);
  EXPECT_EQ(least, 0);
  EXPECT_GT(most, 0);
  EXPECT_LE(most, iteration->report().wall_s);
}

TEST(DeviceQueue, TellsItsThreadFromTheUsersLoopInProfiles) {
  for (const bool pull : {false, true}) {
    IterateOptions options = OptionsWithDeviceQueue(3);
    options.profile = 1 << 16;
    options.pull = pull;
    auto iteration = Start(std::make_shared<FaultyDevice>(), CountingDeviceQueue(), options);
    RunEpochDeviceQueue(*iteration);
    iteration->Close(kTestPatience);
    const Profile profile = iteration->profile();
    std::map<std::string, int> waits;
    for (const Profile::Thread& thread : profile.threads) {
      for (const TaskEvent& task : thread.tasks) waits[thread.name] += profile.IsLoop(task) ? 1 : 0;
    }
    EXPECT_GT(waits["user's loop"], 0);
    EXPECT_EQ(waits.count("user's loop 2"), 0U);
    EXPECT_EQ(waits.count("device thread 1"), pull ? 0U : 1U);
  }
}

TEST(DeviceQueue, NotesTheWayOfEachBatchInProfiles) {
  for (const bool pull : {false, true}) {
    IterateOptions options = OptionsWithDeviceQueue(3);
    options.profile = 2 * kDeviceQueueRows;
    options.pull = pull;
    auto iteration = Start(std::make_shared<FaultyDevice>(), CountingDeviceQueue(), options);
    std::deque<DeviceRow> kept;
    DeviceQueueRan ran;
    DeviceRow row;
    while (TakeRow(*iteration, row, ran)) {
      kept.push_back(std::move(row));
      if (kept.size() > 2) kept.pop_front();
    }
    iteration->Close(kTestPatience);
    const Profile profile = iteration->profile();
    EXPECT_EQ(profile.device, iteration->report().device->name);
    EXPECT_EQ(profile.dropped_batches, 0U);
    ASSERT_EQ(profile.batches.size(), static_cast<size_t>(kDeviceQueueRows));
    for (size_t i = 0; i < profile.batches.size(); ++i) {
      const DeviceBatchTimes& batch = profile.batches[i];
      EXPECT_LE(batch.copy_ns, batch.copied_ns);
      EXPECT_LE(batch.copied_ns, batch.filled_ns);
      EXPECT_LE(batch.filled_ns, profile.wall_ns);
      EXPECT_LE(batch.copy_ns, batch.given_ns);
      EXPECT_LE(batch.given_ns, profile.wall_ns);
      const bool is_kept = i + 2 >= profile.batches.size();
      EXPECT_EQ(batch.released_ns == DeviceBatchTimes::kNever, is_kept) << i;
      EXPECT_LE(batch.given_ns, batch.released_ns);
    }
  }
}

TEST(DeviceQueue, NotesNoMoreBatchesThanItMay) {
  IterateOptions options = OptionsWithDeviceQueue(3);
  options.profile = 2;
  auto iteration = Start(std::make_shared<FaultyDevice>(), CountingDeviceQueue(), options);
  RunEpochDeviceQueue(*iteration);
  iteration->Close(kTestPatience);
  const Profile profile = iteration->profile();
  EXPECT_EQ(profile.batches.size(), 2U);
  EXPECT_EQ(profile.dropped_batches, static_cast<uint64_t>(kDeviceQueueRows) - 2);
}

TEST(DeviceQueue, GivesTheSameRowsInEverySchedule) {
  RunInLanes(kSchedules, [](int i, int) {
    ScheduleRandom random(static_cast<uint64_t>(i));
    const auto device = std::make_shared<FaultyDevice>();
    device->copy_pause = random.Below(40);
    const size_t keep = random.Below(4);
    const int depth = static_cast<int>(1 + random.Below(4));
    // As many as are kept, the one that comes, and those ahead; sometimes fewer of those.
    const auto buffers = static_cast<int64_t>(keep) + 1 + static_cast<int64_t>(random.Below(4));
    IterateOptions options = OptionsWithDeviceQueue(depth, buffers * kDeviceQueueBufferBytes);
    options.endless = true;
    options.pull = random.OneIn(4);
    auto iteration = Start(device, CountingDeviceQueue(12), options);
    std::deque<std::pair<int64_t, DeviceRow>> kept;
    for (uint64_t epoch = 0; epoch < 2; ++epoch) {
      iteration->Ask(epoch);
      DeviceQueueRan ran;
      DeviceRow row;
      while (TakeRow(*iteration, row, ran)) {
        kept.emplace_back(ran.values.back(), std::move(row));
        row = {};
        for (const auto& [value, each] : kept) ASSERT_EQ(CheckedValue(each), value);
        if (kept.size() > keep) kept.pop_front();
        PauseSchedule(random.Below(30));
      }
      ASSERT_TRUE(ran.error.ok()) << i << ": " << ran.error;
      ASSERT_EQ(ran.values, Numbers(0, 12));
    }
    iteration.reset();
    kept.clear();
    ASSERT_EQ(device->lent(), 0);
  });
  std::printf("HEADRACE-COUNT schedules=%d\n", kSchedules);
}

TEST(DeviceQueue, MayBeClosedAtAnyTimeByAnotherThread) {
  RunInLanes(kSchedules, [](int i, int) {
    ScheduleRandom random(static_cast<uint64_t>(i));
    const auto device = std::make_shared<FaultyDevice>();
    device->copy_pause = random.Below(20);
    IterateOptions options = OptionsWithDeviceQueue(static_cast<int>(1 + random.Below(3)));
    options.endless = true;
    options.pull = random.OneIn(4);
    auto iteration = Start(device, CountingDeviceQueue(50), options);
    const uint64_t pause = random.Below(400);
    std::thread closer([&] {
      PauseSchedule(pause);
      iteration->Close(kTestPatience);
    });
    DeviceQueueRan ran;
    while (ran.error.ok()) {
      ran = RunEpochDeviceQueue(*iteration);
      ASSERT_EQ(ran.values, Numbers(0, ran.error.ok() ? 50 : static_cast<int64_t>(ran.values.size())));
    }
    closer.join();
    ASSERT_EQ(KindOf(ran.error), ErrorKind::kClosed);
    iteration.reset();
    ASSERT_EQ(device->lent(), 0);
  });
  std::printf("HEADRACE-COUNT schedules=%d\n", kSchedules);
}

TEST(DeviceName, HasAKindAndANumber) {
  EXPECT_EQ(ParseDeviceName("cpu")->text(), "cpu:0");
  EXPECT_EQ(ParseDeviceName("cuda")->text(), "cuda:0");
  EXPECT_EQ(ParseDeviceName("cuda:12")->text(), "cuda:12");
  for (const char* wrong :
       {"", "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda: 1", "cpu:1", "cuda:1024", "cuda:9999999999"}) {
    EXPECT_EQ(KindOf(ParseDeviceName(wrong).status()), ErrorKind::kGraph) << wrong;
  }
}

}  // namespace
}  // namespace headrace
