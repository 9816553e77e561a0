// What is said where nvJPEG cannot be used. A process of its own: a library that was loaded stays.
#include "engine/device/nvjpeg/nv_jpeg_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "engine/device/nvjpeg/nv_jpeg.h"
#include "engine/device/testing/loaded_driver.h"
#include "engine/device/testing/loaded_nv_jpeg.h"
#include "kernels/testing/golden.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// What the first use says.
std::string Refusal(JpegDevice& device) {
  const std::string bytes = fixture::ReadTestFile("grey.jpg");
  const std::optional<PlainJpeg> jpeg = FindPlainJpeg(bytes);
  std::string pixels(static_cast<size_t>(jpeg->pixels()), '\0');
  const absl::StatusOr<bool> decoded =
      device.Decode(*jpeg, {0, jpeg->height}, reinterpret_cast<uint8_t*>(pixels.data()));
  if (decoded.ok()) return *decoded ? "" : "it cannot";
  EXPECT_EQ(KindOf(decoded.status()), ErrorKind::kUnsupported);
  return std::string(decoded.status().message());
}

std::string RefusalAfterFork(JpegDevice& device) {
  std::array<int, 2> ends = {};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    // One made here, too, and destroyed.
    const std::string refusal = Refusal(device) + Refusal(*NvJpeg::Shared());
    const bool written = write(ends[1], refusal.data(), refusal.size()) == static_cast<ssize_t>(refusal.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::array<char, 2000> text = {};
  const ssize_t size = read(ends[0], text.data(), text.size());
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return {text.data(), static_cast<size_t>(std::max<ssize_t>(size, 0))};
}

// One test, as each step needs those before it.
TEST(NvJpegLibrary, SaysWhatIsMissing) {
  for (const char* name : {"libcuda.so.1", "libnvjpeg.so.13", "libnvjpeg.so.12"}) {
    if (dlopen(name, RTLD_NOW) != nullptr) GTEST_SKIP() << name << " is installed, and would be found first";
  }
  std::shared_ptr<JpegDevice> device = NvJpeg::Shared();
  EXPECT_EQ(NvJpeg::Shared(), device);
  EXPECT_THAT(Refusal(*device),
              StartsWith("decoder=\"nvjpeg\" on cuda:0: no CUDA device can be used: NVIDIA's driver is "
                         "not installed here"));
  TestDriverOptions driver = kPlainDriver;
  driver.version = 12000;
  SetUpDriver(driver);
  EXPECT_THAT(Refusal(*device),
              HasSubstr("NVIDIA's nvJPEG is not installed here: pip install nvidia-nvjpeg-cu12 (libnvjpeg.so.12: "));
  driver.version = 13000;
  SetUpDriver(driver);
  device.reset();
  device = NvJpeg::Shared();
  EXPECT_THAT(Refusal(*device),
              HasSubstr("NVIDIA's nvJPEG is not installed here: pip install nvidia-nvjpeg (libnvjpeg.so.13: "));
  SetUpNvJpeg({.major = 12, .minor = 0, .fail_at = -1, .fail_status = 0});
  EXPECT_THAT(Refusal(*device), HasSubstr("NVIDIA's nvJPEG is of version 12.0, and this needs 12.1 or newer"));
  SetUpNvJpeg({.major = 12, .minor = 1, .fail_at = -1, .fail_status = 0});
  EXPECT_EQ(Refusal(*device), "");
  const std::string lost = RefusalAfterFork(*device);
  EXPECT_THAT(lost, StartsWith("decoder=\"nvjpeg\" on cuda:0: this process was forked after CUDA"));
  EXPECT_EQ(lost.substr(0, lost.size() / 2), lost.substr(lost.size() / 2));
  EXPECT_EQ(Refusal(*device), "");
  device.reset();
  EXPECT_EQ(Findings() + NvJpegFindings(), "");
}

}  // namespace
}  // namespace headrace
