// WebPs that are longer than the pieces in which libwebp is given them.
#include "kernels/vision/codecs/whole/webp.h"

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/stop_signal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

std::string LittleWord(uint32_t number) { return {reinterpret_cast<const char*>(&number), sizeof(number)}; }

// A lossless WebP whose pixels are black or green, by one bit each.
struct OneBitWebp {
  explicit OneBitWebp(uint32_t side) : side(side) {
    // Signature, width, height, no alpha, version 0; no transform, no cache of colours, one group of codes: green is 0
    // or 255, all else 0.
    Add(0x2f, 8);
    Add(side - 1, 14);
    Add(side - 1, 14);
    Add(0, 1 + 3 + 3);
    Add(3, 2);
    Add(0, 2);
    Add(255, 8);
    for (int code = 0; code < 4; ++code) Add(1, 4);
    first_pixel = bits;
    std::mt19937 random(7);
    for (uint32_t left = side * side / 8 + 8; left > 0; --left) Add(random() & 255, 8);
    // So that no byte is missing at its end.
    data.resize(data.size() + data.size() % 2 + 8, '\0');
  }

  void Add(uint32_t value, int width) {
    for (int i = 0; i < width; ++i, ++bits) {
      if (bits % 8 == 0) data.push_back('\0');
      data.back() = static_cast<char>(data.back() | (value >> i & 1) << bits % 8);
    }
  }

  std::string File() const { return FileOf(data); }
  static std::string FileOf(const std::string& data) {
    const std::string chunk = "VP8L" + LittleWord(static_cast<uint32_t>(data.size())) + data;
    return "RIFF" + LittleWord(static_cast<uint32_t>(4 + chunk.size())) + "WEBP" + chunk;
  }

  uint8_t Green(size_t pixel) const {
    const size_t bit = first_pixel + pixel;
    return (data[bit / 8] >> bit % 8 & 1) != 0 ? 255 : 0;
  }

  const uint32_t side;
  std::string data;
  size_t bits = 0;
  size_t first_pixel = 0;
};

absl::StatusOr<Tensor> DecodeTestWebp(std::string_view file) {
  return fixture::RunKernel("Decode", {}, *Tensor::CopyBytes(DType::kBytes, file));
}

TEST(Webp, GivesAllPixelsOfALongFile) {
  const OneBitWebp webp(2000);
  const absl::StatusOr<Tensor> image = DecodeTestWebp(webp.File());
  ASSERT_TRUE(image.ok()) << image.status();
  ASSERT_EQ(image->shape(), Shape({2000, 2000, 3}));
  size_t wrong = 0;
  for (size_t i = 0; i < 2000 * 2000; ++i) {
    const uint8_t* const pixel = image->raw() + 3 * i;
    wrong += pixel[0] != 0 || pixel[1] != webp.Green(i) || pixel[2] != 0;
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(Webp, SaysSoWhereALongFileEndsEarly) {
  const OneBitWebp webp(2000);
  const std::string cut = webp.data.substr(0, 400'000);
  const absl::Status truncated = DecodeTestWebp(webp.File().substr(0, 400'000)).status();
  EXPECT_EQ(KindOf(truncated), ErrorKind::kData) << truncated;
  EXPECT_THAT(std::string(ToStd(truncated.message())), HasSubstr("ends early"));
  // A whole file whose picture ends early.
  const absl::Status damaged = DecodeTestWebp(OneBitWebp::FileOf(cut)).status();
  EXPECT_EQ(KindOf(damaged), ErrorKind::kData) << damaged;
  EXPECT_THAT(std::string(ToStd(damaged.message())), HasSubstr("is damaged"));
}

// libwebp itself decodes a file in one go.
TEST(Webp, EndsBetweenPieces) {
  const OneBitWebp webp(2000);
  const std::atomic<bool> stop{true};
  const StopSignal signal(&stop);
  EXPECT_EQ(KindOf(DecodeTestWebp(webp.File()).status()), ErrorKind::kClosed);
}

}  // namespace
}  // namespace headrace
