// Results in page-locked memory of a device that the process uses already, over the driver for tests. Not tested here:
// NVIDIA's driver.
#include "engine/device/result_memory.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "core/testing/patience.h"
#include "engine/device/device_iteration.h"
#include "engine/device/page_locked_memory.h"
#include "engine/device/testing/loaded_driver.h"
#include "engine/testing/fake_ops.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ResultMemoryOutcome = Pipeline::Outcome;
using ::testing::HasSubstr;

constexpr int64_t kResultMemoryRows = 12;
constexpr int64_t kResultMemoryRowBytes = 1000;

IterateOptions OptionsFor(int device) {
  IterateOptions options;
  options.device =
      PlannedDevice{.name = "cuda:" + std::to_string(device), .sends_from = MemoryKind::kPageLocked, .depth = 0};
  return options;
}

bool IsRow(const DeviceRow& row, int64_t number) {
  const std::vector<uint8_t> expected(kResultMemoryRowBytes, static_cast<uint8_t>(number));
  return std::equal(expected.begin(), expected.end(), static_cast<const uint8_t*>(row.columns[1].raw()));
}

// What a run gave.
struct ResultMemoryRan {
  int64_t rows = 0;         // those before a wrong one
  int64_t page_locked = 0;  // rows that lie there, of `device`
};

// Its rows end up in `kept`, if that is not null.
ResultMemoryRan RunFor(int device, IterateOptions options, std::vector<DeviceRow>* kept = nullptr) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(kResultMemoryRows)}, {"bytes", IntValue(kResultMemoryRowBytes)}});
  graph.Add("fake_work", {{"copy", BoolValue(true)}});
  auto started = DeviceIteration::Start(graph.Build(), std::move(options));
  EXPECT_TRUE(started.ok()) << started.status();
  DeviceIteration& iteration = **started;
  EXPECT_EQ(iteration.device(), nullptr);
  iteration.Ask(iteration.epoch());
  ResultMemoryRan ran;
  while (true) {
    DeviceRow row;
    const absl::StatusOr<ResultMemoryOutcome> outcome = iteration.Fetch(kTestPatience, row);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    if (!outcome.ok() || *outcome == ResultMemoryOutcome::kEpochEnd) break;
    iteration.Given();
    if (IsRow(row, ran.rows)) ++ran.rows;
    ran.page_locked += PageLockedMemory::Of(device).Has(row.columns[1].raw()) ? 1 : 0;
    if (kept != nullptr) kept->push_back(std::move(row));
  }
  return ran;
}

ResultMemoryRan RunFor(int device, std::vector<DeviceRow>* kept = nullptr) {
  return RunFor(device, OptionsFor(device), kept);
}

// First, as a driver that was loaded stays.
TEST(ResultMemory, IsPlainWithoutADriver) {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr) GTEST_SKIP() << "a driver is loaded";
  EXPECT_FALSE(HasActiveContext(0));
  EXPECT_EQ(RunFor(0).rows, kResultMemoryRows);
  EXPECT_EQ(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST(ResultMemory, IsPlainWhereNobodyUsesTheDriver) {
  SetUpDriver(kPlainDriver);
  EXPECT_FALSE(HasActiveContext(0));
  EXPECT_EQ(RunFor(0).rows, kResultMemoryRows);
  // Not even begun.
  EXPECT_EQ(DriverCalls(), 0);
}

TEST(ResultMemory, IsPlainOnADeviceWithoutAContextAndMakesNone) {
  TestDriverOptions two = kPlainDriver;
  two.devices = 2;
  SetUpDriver(two);
  {
    const auto other = *CudaContext::Open(1);
    EXPECT_FALSE(HasActiveContext(0));
    const ResultMemoryRan ran = RunFor(0);
    EXPECT_EQ(ran.rows, kResultMemoryRows);
    EXPECT_EQ(ran.page_locked, 0);
    for (const int none : {-1, 2, 1000}) {
      EXPECT_FALSE(HasActiveContext(none));
      EXPECT_EQ(RunFor(std::max(none, 2)).rows, kResultMemoryRows);
    }
    EXPECT_THAT(Findings(), HasSubstr("1 contexts"));
  }
  EXPECT_EQ(Findings(), "");
}

TEST(ResultMemory, IsPageLockedWhereTheProcessUsesTheDevice) {
  SetUpDriver(kPlainDriver);
  auto context = *CudaContext::Open(0);
  EXPECT_TRUE(HasActiveContext(0));
  EXPECT_EQ(RunFor(0).page_locked, kResultMemoryRows);
  context.reset();
  EXPECT_EQ(Findings(), "");
  EXPECT_FALSE(HasActiveContext(0));
}

TEST(ResultMemory, OutlivesTheRunAndTheOthersThatUseTheDevice) {
  SetUpDriver(kPlainDriver);
  std::vector<DeviceRow> kept;
  {
    const auto context = *CudaContext::Open(0);
    EXPECT_EQ(RunFor(0, &kept).page_locked, kResultMemoryRows);
  }
  for (int64_t i = 0; i < kResultMemoryRows; ++i) EXPECT_TRUE(IsRow(kept[static_cast<size_t>(i)], i));
  kept.clear();
  // What was let go of after its run is kept for the next one, and given back with that.
  EXPECT_EQ(RunFor(0).page_locked, kResultMemoryRows);
  EXPECT_EQ(Findings(), "");
}

TEST(ResultMemory, IsPlainWhereThereIsNoPageLockedMemoryLeft) {
  TestDriverOptions small = kPlainDriver;
  small.host_bytes = 4 * kResultMemoryRowBytes;
  SetUpDriver(small);
  {
    const auto context = *CudaContext::Open(0);
    std::vector<DeviceRow> kept;
    const ResultMemoryRan ran = RunFor(0, &kept);
    EXPECT_EQ(ran.rows, kResultMemoryRows);
    EXPECT_GT(ran.page_locked, 0);
    EXPECT_LT(ran.page_locked, kResultMemoryRows);
    kept.clear();
    RunFor(0);
  }
  EXPECT_EQ(Findings(), "");
}

TEST(ResultMemory, IsPlainWhereACallFails) {
  IterateOptions pulled = OptionsFor(0);
  pulled.pull = true;
  const auto calls_until = [&](int64_t fail_at, int sticky, int64_t& begin) {
    TestDriverOptions given = kPlainDriver;
    given.fail_at = fail_at;
    given.fail_code = CUDA_ERROR_LAUNCH_FAILED;
    given.sticky = sticky;
    SetUpDriver(given);
    const auto context = *CudaContext::Open(0);
    begin = DriverCalls();
    EXPECT_EQ(RunFor(0, pulled).rows, kResultMemoryRows) << "call " << fail_at << " fails";
    return DriverCalls();
  };
  int64_t begin = 0;
  const int64_t end = calls_until(-1, 0, begin);
  EXPECT_GT(end - begin, 10);
  for (int64_t call = begin; call < end; ++call) {
    for (const int sticky : {0, 1}) calls_until(call, sticky, begin);
  }
}

TEST(ResultMemory, IsPlainInAForkedChild) {
  SetUpDriver(kPlainDriver);
  const auto context = *CudaContext::Open(0);
  ASSERT_TRUE(HasActiveContext(0));
  const pid_t child = fork();
  if (child == 0) _exit(HasActiveContext(0) ? 1 : 0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace headrace
