#include "benchmarks/loop.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace headrace {
namespace {

const char kPhotos[] = "examples/photos";

LoopResult Loop60(LoopWork work, int threads) {
  LoopOptions options;
  options.folder = kPhotos;
  options.work = work;
  options.threads = threads;
  options.images = 60;
  options.warm_up_images = 3;
  const auto result = RunLoop(options, /*checksum=*/true);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or(LoopResult{});
}

TEST(Loop, DoesEveryImage) {
  const LoopResult result = Loop60(LoopWork::kFullDecode, 2);
  EXPECT_EQ(result.images, 60);
  EXPECT_EQ(result.unreadable, 0);
  EXPECT_GT(result.seconds, 0);
}

// A yardstick that did less work, or other work with more threads, would measure nothing.
TEST(Loop, CropWhileDecodingGivesTheSamePixels) {
  const LoopResult full = Loop60(LoopWork::kFullDecode, 1);
  EXPECT_NE(full.checksum, 0u);
  EXPECT_EQ(full.checksum, Loop60(LoopWork::kFullDecode, 3).checksum);
  EXPECT_EQ(full.checksum, Loop60(LoopWork::kCropWhileDecoding, 1).checksum);
  EXPECT_EQ(full.checksum, Loop60(LoopWork::kCropWhileDecoding, 2).checksum);
  EXPECT_NE(full.checksum, Loop60(LoopWork::kResize256Center224, 2).checksum);
}

TEST(Loop, SaysWhatIsMissing) {
  LoopOptions options;
  options.folder = "no/such/folder";
  EXPECT_FALSE(RunLoop(options).ok());
  options.folder = kPhotos;
  options.threads = 0;
  EXPECT_FALSE(RunLoop(options).ok());
}

}  // namespace
}  // namespace headrace
