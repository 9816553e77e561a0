#include "benchmarks/loop.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "benchmarks/antialias_loop.h"
#include "benchmarks/jpeg_loop_decoder.h"
#include "kernels/testing/run_kernel.h"

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

// A loop that did less work, or other work with more threads, would be no comparison.
TEST(Loop, CropWhileDecodingGivesTheSamePixels) {
  const LoopResult full = Loop60(LoopWork::kFullDecode, 1);
  EXPECT_NE(full.checksum, 0u);
  EXPECT_EQ(full.checksum, Loop60(LoopWork::kFullDecode, 3).checksum);
  EXPECT_EQ(full.checksum, Loop60(LoopWork::kCropWhileDecoding, 1).checksum);
  EXPECT_EQ(full.checksum, Loop60(LoopWork::kCropWhileDecoding, 2).checksum);
  EXPECT_NE(full.checksum, Loop60(LoopWork::kResize256Center224, 2).checksum);
}

std::vector<std::string> Photos() {
  std::vector<std::string> photos;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kPhotos)) {
    if (entry.path().extension() != ".jpg") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    photos.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return photos;
}

// The values of the pipeline's own kernels, (224, 224, 3).
Tensor ByKernels(const std::string& photo) {
  Tensor image = *Tensor::CopyBytes(DType::kBytes, photo);
  image = *fixture::RunKernel("Decode", {}, image);
  image = *fixture::RunKernel("Resize", {{"size", fixture::Ints({256})}}, image);
  return *(*fixture::RunKernel("CenterCrop", {{"size", fixture::Ints({224, 224})}}, image)).Contiguous();
}

TEST(Loop, ValidatesAsThePipelineDoes) {
  constexpr int kSide = AntialiasLoop::kSide;
  constexpr float kScale[] = {1, 1, 1};
  constexpr float kShift[] = {0, 0, 0};
  JpegLoopDecoder decoder;
  AntialiasLoop loop;
  int compared = 0;
  for (const std::string& photo : Photos()) {
    int width = 0;
    int height = 0;
    ASSERT_TRUE(decoder.Begin(photo, width, height));
    Pixels pixels;
    ASSERT_TRUE(decoder.DecodeBox(loop.Plan(width, height), pixels));
    std::vector<float> planes(3 * kSide * kSide);
    loop.Run(pixels, kScale, kShift, planes.data());
    const Tensor expected = ByKernels(photo);
    for (int i = 0; i < kSide * kSide; ++i) {
      for (int c = 0; c < 3; ++c) {
        // The kernels round twice.
        ASSERT_NEAR(planes[c * kSide * kSide + i], expected.data<uint8_t>()[i * 3 + c], 1.01) << compared << " " << i;
      }
    }
    ++compared;
  }
  EXPECT_GT(compared, 3);
  EXPECT_EQ(Loop60(LoopWork::kValidation, 1).checksum, Loop60(LoopWork::kValidation, 2).checksum);
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
