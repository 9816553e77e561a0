// What is said where the driver cannot be used. A process of its own: a driver that was loaded stays.
#include "engine/device/cuda_driver.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_EQ(RefusalOf(1), "");
  EXPECT_EQ(RefusalOf(2), "there is no device cuda:2: this process sees 2 CUDA devices, numbered from 0");
}

}  // namespace
}  // namespace headrace
