// What is said where the driver cannot be used. A process of its own: a driver that was loaded stays.
#include "engine/device/cuda_driver.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "engine/device/open_device.h"
#include "engine/device/testing/test_driver.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

std::string RefusalOf(int number) {
  const auto device = OpenDevice({DeviceName::Kind::kCuda, number});
  if (device.ok()) return "";
  EXPECT_EQ(KindOf(device.status()), ErrorKind::kUnsupported);
  return std::string(device.status().message());
}

// What it says in a process that is forked here.
std::string RefusalAfterFork(int number) {
  std::array<int, 2> ends = {};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string refusal = RefusalOf(number);
    const bool written = write(ends[1], refusal.data(), refusal.size()) == static_cast<ssize_t>(refusal.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::array<char, 1000> text = {};
  const ssize_t size = read(ends[0], text.data(), text.size());
  close(ends[0]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  return {text.data(), static_cast<size_t>(std::max<ssize_t>(size, 0))};
}

// One test, as each step needs those before it.
TEST(CudaDriver, SaysWhatIsMissing) {
  if (dlopen("libcuda.so.1", RTLD_NOW) != nullptr) GTEST_SKIP() << "a driver is installed, which would be found first";
  EXPECT_THAT(RefusalOf(0), HasSubstr("no CUDA device can be used: NVIDIA's driver is not installed here"));
  void* const library = dlopen("engine/device/testing/libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto set_up = reinterpret_cast<decltype(TestDriverSetUp)*>(dlsym(library, "TestDriverSetUp"));
  TestDriverOptions given = {.order = kRunLate,
                             .seed = 0,
                             .devices = 0,
                             .version = 11080,
                             .device_bytes = 1 << 20,
                             .host_bytes = 1 << 20,
                             .fail_at = -1,
                             .fail_code = 0,
                             .sticky = 0};
  set_up(&given);
  EXPECT_THAT(RefusalOf(0), HasSubstr("no CUDA-capable device is detected (CUDA_ERROR_NO_DEVICE)"));
  given.devices = 2;
  set_up(&given);
  EXPECT_THAT(RefusalOf(0), HasSubstr("NVIDIA's driver is for CUDA 11.8, and this needs one for 12.0 or newer"));
  given.version = 12000;
  set_up(&given);
  // Only the driver knows of the use before.
  EXPECT_THAT(RefusalAfterFork(1), HasSubstr("this process was forked after CUDA"));
  const auto device = OpenDevice({DeviceName::Kind::kCuda, 1});
  EXPECT_TRUE(device.ok()) << device.status();
  EXPECT_THAT(RefusalAfterFork(1), HasSubstr("this process was forked after CUDA"));
  EXPECT_THAT(RefusalAfterFork(0), HasSubstr("start workers with the 'spawn' method"));
  EXPECT_EQ(RefusalOf(1), "");
  EXPECT_EQ(RefusalOf(2), "there is no device cuda:2: this process sees 2 CUDA devices, numbered from 0");
}

}  // namespace
}  // namespace headrace
