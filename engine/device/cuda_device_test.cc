// The CUDA backend over a driver for tests, which runs streams as late as the API allows, as early, and in random
// orders, guards memory, and fails each call in turn. Not tested here: the driver and the devices of NVIDIA.
#include "engine/device/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <functional>

#include "core/error.h"
#include "core/testing/patience.h"
#include "core/testing/rounds.h"
#include "engine/device/device_iteration.h"
#include "engine/device/testing/loaded_driver.h"
#include "engine/testing/cooperative_threads.h"
#include "engine/testing/fake_ops.h"

namespace headrace {
namespace {

const uint64_t kOrders = Rounds(200, {.quick = 20, .sanitized = 20});
const int64_t kCallsApart = OneIn({.quick = 5, .sanitized = 3});

using ir::BoolValue;
using ir::IntValue;
using CudaDeviceOutcome = Pipeline::Outcome;
using ::testing::HasSubstr;

constexpr int64_t kCudaDeviceRowBytes = 1000;
constexpr int64_t kCudaDeviceBufferBytes = 256 + 1024;

int64_t Allocations() { return FromDriver<decltype(TestDriverAllocations)>("TestDriverAllocations")(); }
// Without what was not given back.
std::string Violations() {
  std::string violations;
  const std::string all = Findings();
  for (size_t at = 0; at < all.size();) {
    const size_t end = all.find('\n', at) + 1;
    const std::string line = all.substr(at, end - at);
    if (line.find("not given back") == std::string::npos) violations += line;
    at = end;
  }
  return violations;
}

FakeGraph CountingCudaDevice(int64_t rows) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(rows)}, {"bytes", IntValue(kCudaDeviceRowBytes)}});
  graph.Add("fake_work", {{"copy", BoolValue(true)}});
  return graph;
}

IterateOptions OptionsWithCudaDevice(int depth, int64_t memory = 0) {
  IterateOptions options;
  options.device =
      PlannedDevice{.name = "cuda:0", .sends_from = MemoryKind::kPageLocked, .depth = depth, .memory = memory};
  options.group = 1;
  return options;
}

// Each row is sent while the loop waits for it: the calls are the same in each run.
IterateOptions PulledWith(int64_t memory = 0) {
  IterateOptions options = OptionsWithCudaDevice(2, memory);
  options.pull = true;
  return options;
}

// A training loop on streams of its own.
class User {
 public:
  explicit User(int device = 0, unsigned int flags = CU_STREAM_NON_BLOCKING) : context_(*CudaContext::Open(device)) {
    const CudaScope scope(*context_);
    EXPECT_EQ(Driver().StreamCreateWithPriority(&stream_, flags, 0), CUDA_SUCCESS);
  }
  ~User() {
    const CudaScope scope(*context_);
    Driver().StreamDestroy(stream_);
  }

  DeviceStream stream() const { return reinterpret_cast<DeviceStream>(stream_); }
  const CudaDriver& Driver() const { return context_->driver(); }
  // Work that reads the row, and then overwrites it.
  void Use(const DeviceRow& row, int64_t value, DeviceStream stream, bool writes) const {
    const CudaScope scope(*context_);
    if (!scope.status().ok()) return;
    const auto handle = reinterpret_cast<CUstream>(stream);
    const auto expect = FromDriver<decltype(TestDriverExpect)>("TestDriverExpect");
    const std::vector<uint8_t> data(kCudaDeviceRowBytes, static_cast<uint8_t>(value));
    expect(handle, reinterpret_cast<CUdeviceptr>(row.columns[0].raw()), &value, sizeof(value));
    expect(handle, reinterpret_cast<CUdeviceptr>(row.columns[1].raw()), data.data(), data.size());
    if (!writes) return;
    FromDriver<decltype(TestDriverWrite)>("TestDriverWrite")(
        handle, reinterpret_cast<CUdeviceptr>(row.columns[1].raw()), 0x55, kCudaDeviceRowBytes);
  }
  // Whether the capture is whole.
  bool Capture(bool begins) const {
    return FromDriver<decltype(TestDriverCapture)>("TestDriverCapture")(stream_, begins ? 1 : 0) != 0;
  }

 private:
  const std::shared_ptr<CudaContext> context_;
  CUstream stream_ = nullptr;
};

// What the user does with a row; the row is let go after it, unless `keep` rows are kept.
using UseRow = std::function<absl::Status(DeviceRow& row, int64_t value)>;

struct CudaDeviceRan {
  int64_t rows = 0;
  absl::Status error;
};

CudaDeviceRan RunEpochCudaDevice(DeviceIteration& iteration, const UseRow& use, size_t keep = 0) {
  iteration.Ask(iteration.epoch());
  CudaDeviceRan ran;
  std::deque<DeviceRow> kept;
  while (ran.error.ok()) {
    DeviceRow row;
    const absl::StatusOr<CudaDeviceOutcome> outcome = iteration.Fetch(kTestPatience, row);
    ran.error = outcome.status();
    if (!outcome.ok() || *outcome == CudaDeviceOutcome::kEpochEnd) break;
    iteration.Given();
    ran.error = use(row, ran.rows);
    if (ran.error.ok()) ++ran.rows;
    kept.push_back(std::move(row));
    if (kept.size() > keep) kept.pop_front();
  }
  return ran;
}

constexpr auto kLegacy = DeviceStream{1};

// On a stream that nobody names.
UseRow OnAnyStream(const User& user) {
  return [&user](DeviceRow& row, int64_t value) -> absl::Status {
    HEADRACE_RETURN_IF_ERROR(row.batch->HandOverToAny());
    user.Use(row, value, user.stream(), true);
    return absl::OkStatus();
  };
}

UseRow OnStreamOf(const User& user) {
  return [&user](DeviceRow& row, int64_t value) -> absl::Status {
    HEADRACE_RETURN_IF_ERROR(row.batch->HandOver(user.stream()));
    user.Use(row, value, user.stream(), true);
    return absl::OkStatus();
  };
}

// One run of 12 rows with everything that a user may do, and nothing left at its end.
CudaDeviceRan RunWhole(IterateOptions options, size_t keep,
                       const std::function<UseRow(const User&)>& use = OnStreamOf) {
  auto iteration = DeviceIteration::Start(CountingCudaDevice(12).Build(), std::move(options));
  if (!iteration.ok()) return {0, iteration.status()};
  const User user;
  const CudaDeviceRan ran = RunEpochCudaDevice(**iteration, use(user), keep);
  iteration->reset();
  return ran;
}

TEST(CudaDevice, GivesItsRowsInEveryOrderOfStreams) {
  for (uint64_t seed = 0; seed < kOrders; ++seed) {
    TestDriverOptions given = kPlainDriver;
    given.order = seed == 0 ? kRunLate : seed == 1 ? kRunEarly : kRunRandom;
    given.seed = seed;
    SetUpDriver(given);
    ScheduleRandom random(seed);
    IterateOptions options = OptionsWithCudaDevice(static_cast<int>(1 + random.Below(3)));
    options.pull = random.OneIn(4);
    const CudaDeviceRan ran = RunWhole(options, random.Below(3));
    ASSERT_TRUE(ran.error.ok()) << ran.error;
    ASSERT_EQ(ran.rows, 12);
    ASSERT_EQ(Findings(), "") << "seed " << seed;
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", static_cast<int>(kOrders));
}

TEST(CudaDevice, HandsOverWithoutACallWhatHasArrived) {
  SetUpDriver(kPlainDriver);
  {
    const auto calls = FromDriver<decltype(TestDriverCalls)>("TestDriverCalls");
    const std::shared_ptr<Device> device = *CudaDevice::Open(0);
    const User user;
    const FencePtr fence = *device->Fill({}, {});
    int64_t before = calls();
    ASSERT_TRUE(device->MakeWait(user.stream(), fence).ok());
    EXPECT_GT(calls(), before) << "it may be on its way";
    ASSERT_TRUE(device->Wait(fence).ok());
    before = calls();
    ASSERT_TRUE(device->MakeWait(user.stream(), fence).ok());
    ASSERT_TRUE(device->Wait(fence).ok());
    EXPECT_EQ(calls(), before);
  }
  EXPECT_EQ(Findings(), "");
}

TEST(CudaDevice, SendsFromWhereTheResultWasMade) {
  SetUpDriver(kPlainDriver);
  {
    auto iteration = *DeviceIteration::Start(CountingCudaDevice(12).Build(), OptionsWithCudaDevice(3));
    const User user;
    EXPECT_EQ(RunEpochCudaDevice(*iteration, OnStreamOf(user)).rows, 12);
    const Report report = iteration->report();
    // The values lie in the source's messages: 8 bytes a row.
    EXPECT_EQ(report.device->staged_bytes, 12U * 8);
    EXPECT_EQ(report.device->bytes, 12U * (8 + kCudaDeviceRowBytes));
  }
  EXPECT_EQ(Findings(), "");
}

TEST(CudaDevice, SendsRowsThatLieInPlainMemory) {
  SetUpDriver(kPlainDriver);
  {
    FakeGraph graph;
    graph.Add("fake_count", {{"rows", IntValue(12)}, {"bytes", IntValue(kCudaDeviceRowBytes)}});
    graph.Add("fake_work", {{"copy", BoolValue(true)}, {"lent", BoolValue(true)}, {"python", BoolValue(true)}});
    auto iteration = *DeviceIteration::Start(graph.Build(), OptionsWithCudaDevice(3));
    const User user;
    EXPECT_EQ(RunEpochCudaDevice(*iteration, OnStreamOf(user)).rows, 12);
    EXPECT_EQ(iteration->report().device->staged_bytes, iteration->report().device->bytes);
  }
  EXPECT_EQ(Findings(), "");
}

TEST(CudaDevice, WaitsForEveryStreamThatIsKnownToUseARow) {
  for (const int order : {kRunLate, kRunEarly, kRunRandom}) {
    TestDriverOptions given = kPlainDriver;
    given.order = order;
    SetUpDriver(given);
    {
      const User other;
      const CudaDeviceRan ran = RunWhole(OptionsWithCudaDevice(2), 1, [&other](const User& user) {
        return [&user, &other](DeviceRow& row, int64_t value) -> absl::Status {
          HEADRACE_RETURN_IF_ERROR(row.batch->HandOver(user.stream()));
          user.Use(row, value, user.stream(), false);
          HEADRACE_RETURN_IF_ERROR(row.batch->HandOver(other.stream()));
          HEADRACE_RETURN_IF_ERROR(row.batch->Record(other.stream()));
          other.Use(row, value, other.stream(), false);
          return absl::OkStatus();
        };
      });
      EXPECT_TRUE(ran.error.ok()) << ran.error;
      EXPECT_EQ(ran.rows, 12);
    }
    EXPECT_EQ(Findings(), "");
  }
}

TEST(CudaDevice, KnowsTheLegacyDefaultStream) {
  SetUpDriver(kPlainDriver);
  const CudaDeviceRan ran = RunWhole(OptionsWithCudaDevice(2), 0, [](const User& user) {
    return [&user](DeviceRow& row, int64_t value) -> absl::Status {
      HEADRACE_RETURN_IF_ERROR(row.batch->HandOver(kLegacy));
      user.Use(row, value, kLegacy, true);
      return absl::OkStatus();
    };
  });
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_EQ(Findings(), "");
}

TEST(CudaDevice, WaitsForAllWorkWhereStreamsAreNotNamed) {
  for (const bool names_one : {false, true}) {
    SetUpDriver(kPlainDriver);
    const CudaDeviceRan ran = RunWhole(OptionsWithCudaDevice(2), 0, [names_one](const User& user) {
      return [&user, names_one](DeviceRow& row, int64_t value) -> absl::Status {
        HEADRACE_RETURN_IF_ERROR(names_one ? row.batch->HandOverToAny(kLegacy) : row.batch->HandOverToAny());
        user.Use(row, value, names_one ? kLegacy : user.stream(), true);
        return absl::OkStatus();
      };
    });
    EXPECT_TRUE(ran.error.ok()) << ran.error;
    EXPECT_EQ(ran.rows, 12);
    EXPECT_EQ(Findings(), "");
  }
}

TEST(CudaDevice, QueuesNothingOnAStreamUnderCapture) {
  SetUpDriver(kPlainDriver);
  const CudaDeviceRan ran = RunWhole(OptionsWithCudaDevice(2), 0, [](const User& user) {
    return [&user](DeviceRow& row, int64_t value) -> absl::Status {
      HEADRACE_RETURN_IF_ERROR(row.batch->HandOver(user.stream()));
      if (value % 3 < 2) user.Use(row, value, user.stream(), false);
      // Every third row is let go during a capture, in which the next one is handed over.
      user.Capture(value % 3 == 1);
      return absl::OkStatus();
    };
  });
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_EQ(ran.rows, 12);
  EXPECT_EQ(Findings(), "");
}

// A stream that the legacy stream waits for, which is used meanwhile.
TEST(CudaDevice, QueuesNothingOnTheLegacyStreamBesideACapture) {
  SetUpDriver(kPlainDriver);
  {
    const User captured(0, CU_STREAM_DEFAULT);
    bool whole = true;
    const CudaDeviceRan ran = RunWhole(OptionsWithCudaDevice(2), 0, [&](const User& user) {
      return [&](DeviceRow& row, int64_t value) -> absl::Status {
        HEADRACE_RETURN_IF_ERROR(row.batch->HandOver(kLegacy));
        if (value % 3 < 2) user.Use(row, value, kLegacy, false);
        whole &= captured.Capture(value % 3 == 1);
        return absl::OkStatus();
      };
    });
    EXPECT_TRUE(ran.error.ok()) << ran.error;
    EXPECT_EQ(ran.rows, 12);
    EXPECT_TRUE(whole);
  }
  EXPECT_EQ(Findings(), "");
}

TEST(CudaDevice, ReusesRowsOnStreamsThatNobodyNames) {
  SetUpDriver(kPlainDriver);
  auto iteration = *DeviceIteration::Start(CountingCudaDevice(20).Build(), PulledWith());
  const User user;
  const CudaDeviceRan ran = RunEpochCudaDevice(*iteration, OnAnyStream(user), 1);
  EXPECT_EQ(ran.rows, 20);
  // The loop's, the one that it keeps, and the one that is filled next.
  EXPECT_LE(Allocations(), 3);
  iteration.reset();
  EXPECT_EQ(Violations(), "");
}

// Of a stream that the legacy stream waits for.
TEST(CudaDevice, BreaksNoCaptureThatItCanSee) {
  SetUpDriver(kPlainDriver);
  {
    const User captured(0, CU_STREAM_DEFAULT);
    const User user;
    auto iteration = *DeviceIteration::Start(CountingCudaDevice(12).Build(), PulledWith(3 * kCudaDeviceBufferBytes));
    bool whole = true;
    const CudaDeviceRan ran = RunEpochCudaDevice(*iteration, [&](DeviceRow& row, int64_t value) -> absl::Status {
      HEADRACE_RETURN_IF_ERROR(row.batch->HandOverToAny());
      user.Use(row, value, user.stream(), true);
      whole &= captured.Capture(value % 3 == 1);
      return absl::OkStatus();
    });
    EXPECT_TRUE(ran.error.ok()) << ran.error;
    EXPECT_EQ(ran.rows, 12);
    EXPECT_TRUE(whole);
  }
  EXPECT_EQ(Findings(), "");
}

TEST(CudaDevice, SaysThatRowsWaitForTheEndOfACapture) {
  SetUpDriver(kPlainDriver);
  {
    const User captured(0, CU_STREAM_DEFAULT);
    auto iteration = *DeviceIteration::Start(CountingCudaDevice(12).Build(), PulledWith(2 * kCudaDeviceBufferBytes));
    const CudaDeviceRan ran = RunEpochCudaDevice(*iteration, [&](DeviceRow& row, int64_t value) -> absl::Status {
      if (value == 2) captured.Capture(true);
      return row.batch->HandOverToAny();
    });
    captured.Capture(false);
    EXPECT_EQ(KindOf(ran.error), ErrorKind::kResource);
    EXPECT_THAT(std::string(ran.error.message()),
                HasSubstr("the loop keeps 0 batches on cuda:0, 2 on streams that nobody named wait for the end of a "
                          "graph's capture, and there is no memory for the next one of 1.2 KiB: let go"));
  }
  EXPECT_EQ(Findings(), "");
}

// On a stream that nobody named and the legacy stream does not wait for.
TEST(CudaDevice, FreesNothingDuringACaptureThatItCannotSee) {
  SetUpDriver(kPlainDriver);
  {
    const User user;
    {
      auto iteration = *DeviceIteration::Start(CountingCudaDevice(12).Build(), OptionsWithCudaDevice(2));
      user.Capture(true);
      const User other;
      EXPECT_EQ(RunEpochCudaDevice(*iteration,
                                   [&](DeviceRow& row, int64_t value) -> absl::Status {
                                     HEADRACE_RETURN_IF_ERROR(row.batch->HandOverToAny());
                                     other.Use(row, value, other.stream(), true);
                                     return absl::OkStatus();
                                   })
                    .rows,
                12);
    }
    EXPECT_EQ(Violations(), "");
    EXPECT_THAT(Findings(), HasSubstr("pieces of device memory were not given back"));
    user.Capture(false);
    // The next one frees what was left.
    EXPECT_EQ(RunWhole(OptionsWithCudaDevice(2), 0).rows, 12);
  }
  EXPECT_EQ(Findings(), "");
}

TEST(CudaDevice, RefusesStreamsOfOtherDevices) {
  TestDriverOptions given = kPlainDriver;
  given.devices = 2;
  SetUpDriver(given);
  {
    auto iteration = *DeviceIteration::Start(CountingCudaDevice(12).Build(), OptionsWithCudaDevice(2));
    const User user;
    const User other(1);
    const CudaDeviceRan ran = RunEpochCudaDevice(*iteration, [&](DeviceRow& row, int64_t) -> absl::Status {
      const absl::Status lent = row.batch->HandOver(other.stream());
      EXPECT_EQ(KindOf(lent), ErrorKind::kUnsupported);
      EXPECT_THAT(std::string(lent.message()), HasSubstr("another device or context than the batch on cuda:0"));
      EXPECT_EQ(row.batch->Record(other.stream()), lent);
      return row.batch->HandOver(user.stream());
    });
    EXPECT_EQ(ran.rows, 12);
  }
  EXPECT_EQ(Findings(), "");
}

TEST(CudaDevice, GoesOnFromEveryState) {
  SetUpDriver(kPlainDriver);
  for (int64_t step = 1; step < 8; ++step) {
    std::string state;
    {
      auto iteration = *DeviceIteration::Start(CountingCudaDevice(8).Build(), OptionsWithCudaDevice(3));
      iteration->Ask(0);
      DeviceRow row;
      for (int64_t i = 0; i < step; ++i) ASSERT_EQ(*iteration->Fetch(kTestPatience, row), CudaDeviceOutcome::kRow);
      iteration->Given();
      state = *iteration->State();
    }
    IterateOptions options = OptionsWithCudaDevice(3);
    options.state = state;
    auto iteration = *DeviceIteration::Start(CountingCudaDevice(8).Build(), options);
    const User user;
    int64_t at = step;
    const CudaDeviceRan rest = RunEpochCudaDevice(*iteration, [&](DeviceRow& row, int64_t) -> absl::Status {
      HEADRACE_RETURN_IF_ERROR(row.batch->HandOver(user.stream()));
      user.Use(row, at++, user.stream(), true);
      return absl::OkStatus();
    });
    EXPECT_EQ(rest.rows, 8 - step);
  }
  EXPECT_EQ(Findings(), "");
}

TEST(CudaDevice, RowsOutliveTheIteration) {
  SetUpDriver(kPlainDriver);
  {
    const User user;
    std::vector<DeviceRow> kept(5);
    {
      auto iteration = *DeviceIteration::Start(CountingCudaDevice(12).Build(), OptionsWithCudaDevice(2));
      iteration->Ask(0);
      for (DeviceRow& row : kept) ASSERT_EQ(*iteration->Fetch(kTestPatience, row), CudaDeviceOutcome::kRow);
    }
    for (int64_t i = 0; i < 5; ++i) EXPECT_TRUE(OnStreamOf(user)(kept[static_cast<size_t>(i)], i).ok());
  }
  EXPECT_EQ(Findings(), "");
}

TEST(CudaDevice, SendsToTwoDevicesAtOnce) {
  TestDriverOptions given = kPlainDriver;
  given.devices = 2;
  SetUpDriver(given);
  {
    IterateOptions second = OptionsWithCudaDevice(2);
    second.device->name = "cuda:1";
    auto first = *DeviceIteration::Start(CountingCudaDevice(12).Build(), OptionsWithCudaDevice(2));
    auto other = *DeviceIteration::Start(CountingCudaDevice(12).Build(), second);
    EXPECT_EQ(other->device()->dlpack_id(), 1);
    const User user(0);
    const User others(1);
    first->Ask(0);
    other->Ask(0);
    for (int64_t i = 0; i < 12; ++i) {
      DeviceRow row;
      ASSERT_EQ(*first->Fetch(kTestPatience, row), CudaDeviceOutcome::kRow);
      EXPECT_TRUE(OnStreamOf(user)(row, i).ok());
      ASSERT_EQ(*other->Fetch(kTestPatience, row), CudaDeviceOutcome::kRow);
      EXPECT_TRUE(OnStreamOf(others)(row, i).ok());
    }
  }
  EXPECT_EQ(Findings(), "");
}

TEST(CudaDevice, EachCallFailsOnceInTurn) {
  SetUpDriver(kPlainDriver);
  ASSERT_TRUE(RunWhole(OptionsWithCudaDevice(2), 1).error.ok());
  const int64_t calls = DriverCalls() + 20;  // their number depends on the threads
  int faults = 0;
  struct Fault {
    CUresult code;
    int sticky;
    const char* name;
  };
  for (const auto& [code, sticky, name] : {Fault{CUDA_ERROR_OUT_OF_MEMORY, 0, "(CUDA_ERROR_OUT_OF_MEMORY)"},
                                           {CUDA_ERROR_ILLEGAL_ADDRESS, 1, "(CUDA_ERROR_ILLEGAL_ADDRESS)"},
                                           {CUDA_ERROR_DEVICE_UNAVAILABLE, 1, "(CUDA_ERROR_DEVICE_UNAVAILABLE)"}}) {
    for (int64_t at = 0; at < calls; at += kCallsApart) {
      TestDriverOptions given = kPlainDriver;
      given.order = kRunRandom;
      given.seed = static_cast<uint64_t>(at);
      given.fail_at = at;
      given.fail_code = code;
      given.sticky = sticky;
      SetUpDriver(given);
      auto iteration = DeviceIteration::Start(CountingCudaDevice(12).Build(), OptionsWithCudaDevice(2));
      if (!iteration.ok()) {
        EXPECT_THAT((std::array{ErrorKind::kResource, ErrorKind::kUnsupported}),
                    testing::Contains(KindOf(iteration.status())));
        EXPECT_THAT(std::string(iteration.status().message()), HasSubstr(name));
      } else {
        // Its own calls may fail, too: then the row is not used.
        const CudaDeviceRan ran = RunEpochCudaDevice(**iteration, [](DeviceRow& row, int64_t value) {
          return value % 2 == 0 ? row.batch->HandOver(kLegacy) : row.batch->HandOverToAny(kLegacy);
        });
        if (ran.error.ok()) {
          EXPECT_EQ(ran.rows, 12);
        } else {
          EXPECT_EQ(KindOf(ran.error), ErrorKind::kResource) << ran.error;
          EXPECT_THAT(std::string(ran.error.message()), HasSubstr(name)) << "call " << at;
        }
        iteration->reset();
      }
      ASSERT_EQ(Violations(), "") << "call " << at << " fails with " << code;
      ++faults;
    }
  }
  std::printf("HEADRACE-COUNT faults=%d\n", faults);
}

TEST(CudaDevice, FreesNoMemoryThatItCouldNotWaitFor) {
  const auto run = [](int64_t fail_at, int64_t& begin) {
    TestDriverOptions given = kPlainDriver;
    given.fail_at = fail_at;
    given.fail_code = CUDA_ERROR_LAUNCH_FAILED;
    SetUpDriver(given);
    auto iteration = *DeviceIteration::Start(CountingCudaDevice(12).Build(), PulledWith());
    const User user;
    begin = DriverCalls();
    RunEpochCudaDevice(*iteration, OnAnyStream(user));
    iteration.reset();
    return DriverCalls();
  };
  int64_t begin = 0;
  const int64_t end = run(-1, begin);
  for (int64_t at = begin; at < end; ++at) {
    run(at, begin);
    ASSERT_EQ(Violations(), "") << "call " << at << " of " << end;
  }
}

TEST(CudaDevice, SaysWhatIsMissing) {
  const auto refusal = [](const TestDriverOptions& given) {
    SetUpDriver(given);
    return RunWhole(OptionsWithCudaDevice(2), 0).error;
  };
  TestDriverOptions given = kPlainDriver;
  absl::Status error = RunWhole(
                           [] {
                             IterateOptions options = OptionsWithCudaDevice(2);
                             options.device->name = "cuda:3";
                             return options;
                           }(),
                           0)
                           .error;
  EXPECT_EQ(KindOf(error), ErrorKind::kUnsupported);
  EXPECT_THAT(std::string(error.message()), HasSubstr("there is no device cuda:3: this process sees 1 CUDA device"));
  given.device_bytes = 100;
  error = refusal(given);
  EXPECT_THAT(std::string(error.message()), HasSubstr("a batch takes 1.2 KiB on cuda:0"));
  given = kPlainDriver;
  given.host_bytes = 100;
  error = refusal(given);
  EXPECT_EQ(KindOf(error), ErrorKind::kResource);
  EXPECT_THAT(std::string(error.message()),
              HasSubstr("cuda:0: cuMemHostAlloc failed: out of memory (CUDA_ERROR_OUT_OF_MEMORY)"));
  EXPECT_EQ(Violations(), "");
}

TEST(CudaDevice, GrowsNoFurtherThanTheDeviceHasMemory) {
  TestDriverOptions given = kPlainDriver;
  given.device_bytes = 5 * kCudaDeviceBufferBytes;
  SetUpDriver(given);
  const CudaDeviceRan ran = RunWhole(OptionsWithCudaDevice(2, 100 * kCudaDeviceBufferBytes), 20);
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kResource);
  EXPECT_THAT(std::string(ran.error.message()), HasSubstr("the loop keeps 5 batches on cuda:0"));
  EXPECT_EQ(ran.rows, 5);
  EXPECT_EQ(Findings(), "");
}

// ---- the driver for tests finds what it is for ----

// A device that leaves out one thing.
class Mutant : public Device {
 public:
  enum class Omits { kNothing, kWaitOfTheHost, kWaitOfTheStream, kWaitBeforeFree };

  Mutant(std::shared_ptr<Device> device, Omits omits)
      : Device(device->name()), device_(std::move(device)), omits_(omits) {}
  int dlpack_type() const override { return device_->dlpack_type(); }
  int dlpack_id() const override { return device_->dlpack_id(); }
  BufferPool* page_locked() override { return device_->page_locked(); }
  bool CopiesFrom(const void* host) override { return device_->CopiesFrom(host); }
  absl::StatusOr<int64_t> DefaultBudget() override { return device_->DefaultBudget(); }
  std::string PageLockedRefusal() override { return device_->PageLockedRefusal(); }
  absl::StatusOr<DeviceMemory> Allocate(size_t bytes) override { return device_->Allocate(bytes); }
  void Free(uint8_t* memory) override { device_->Free(memory); }
  void FreeAfterCapture(uint8_t* memory) override { device_->FreeAfterCapture(memory); }
  absl::StatusOr<FencePtr> Fill(const DeviceFill& fill, absl::Span<const FencePtr> after) override {
    return device_->Fill(fill, omits_ == Omits::kWaitOfTheStream ? absl::Span<const FencePtr>() : after);
  }
  absl::Status Wait(const FencePtr& fence) override {
    const bool omitted = omits_ == Omits::kWaitOfTheHost || (omits_ == Omits::kWaitBeforeFree && closing);
    return omitted ? absl::OkStatus() : device_->Wait(fence);
  }
  absl::Status WaitForCopies() override { return device_->WaitForCopies(); }
  absl::StatusOr<bool> WaitForAll() override { return device_->WaitForAll(); }
  absl::Status CheckStream(DeviceStream stream) override { return device_->CheckStream(stream); }
  absl::Status MakeWait(DeviceStream stream, const FencePtr& fence) override {
    return device_->MakeWait(stream, fence);
  }
  absl::StatusOr<FencePtr> RecordFence(DeviceStream stream) override { return device_->RecordFence(stream); }
  bool Reached(const FencePtr& fence) override { return device_->Reached(fence); }

  std::atomic<bool> closing{false};

 private:
  const std::shared_ptr<Device> device_;
  const Omits omits_;
};

std::string FindingsWithout(Mutant::Omits omits, int order) {
  TestDriverOptions given = kPlainDriver;
  given.order = order;
  SetUpDriver(given);
  {
    const User user;
    const auto mutant = std::make_shared<Mutant>(*CudaDevice::Open(0), omits);
    auto iteration = *DeviceIteration::StartOn(mutant, CountingCudaDevice(12).Build(), OptionsWithCudaDevice(2));
    EXPECT_EQ(RunEpochCudaDevice(*iteration, OnStreamOf(user)).rows, 12);
    mutant->closing = true;
  }
  return Violations();
}

TEST(TestDriver, FindsAHostBufferThatIsReusedTooEarly) {
  EXPECT_EQ(FindingsWithout(Mutant::Omits::kNothing, kRunLate), "");
  EXPECT_THAT(FindingsWithout(Mutant::Omits::kWaitOfTheHost, kRunLate),
              HasSubstr("the source of a pending copy was changed"));
}

TEST(TestDriver, FindsAWaitOfAStreamThatIsLeftOut) {
  for (const int order : {kRunLate, kRunEarly, kRunRandom}) {
    EXPECT_THAT(FindingsWithout(Mutant::Omits::kWaitOfTheStream, order),
                HasSubstr("memory is written while other work may"));
  }
}

TEST(TestDriver, FindsDeviceMemoryThatIsFreedUnderWork) {
  for (const int order : {kRunLate, kRunEarly, kRunRandom}) {
    EXPECT_THAT(FindingsWithout(Mutant::Omits::kWaitBeforeFree, order),
                HasSubstr("device memory is freed under pending work"));
  }
}

}  // namespace
}  // namespace headrace
