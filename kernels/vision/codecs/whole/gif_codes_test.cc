// The codes of a GIF's frame, written as encoders may write them, and as none does.
#include "kernels/vision/codecs/whole/gif_codes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

using Pixels = std::vector<uint8_t>;
using Codes = std::vector<uint32_t>;

constexpr size_t kMostCodes = 4096;

// A decoder knows each code from the code after it on: its codes grow longer then.
std::string Packed(const Codes& codes, int bits) {
  const uint32_t clear = 1U << bits;
  std::string bytes;
  uint64_t held = 0;
  int count = 0;
  int width = bits + 1;
  size_t known = clear + 1;
  for (const uint32_t code : codes) {
    held |= uint64_t{code} << count;
    for (count += width; count >= 8; count -= 8, held >>= 8) bytes.push_back(static_cast<char>(held));
    known = code == clear ? clear + 1 : known + 1;
    if (code == clear) width = bits + 1;
    if (known == 1U << width && width < 12) ++width;
  }
  bytes.push_back(static_cast<char>(held));
  return bytes;
}

// Greedy codes. `clears`: the table is forgotten when it is full; else it stays as it is.
Codes Encoded(const Pixels& pixels, int bits, bool clears) {
  const uint32_t clear = 1U << bits;
  Codes codes = {clear};
  std::map<Pixels, uint32_t> table;
  Pixels run;
  const auto code_of = [&](const Pixels& found) { return found.size() == 1 ? found[0] : table.at(found); };
  for (const uint8_t pixel : pixels) {
    run.push_back(pixel);
    if (run.size() == 1 || table.count(run) > 0) continue;
    run.pop_back();
    codes.push_back(code_of(run));
    run.push_back(pixel);
    const size_t next = clear + 2 + table.size();
    if (next < kMostCodes) {
      table[run] = static_cast<uint32_t>(next);
    } else if (clears) {
      codes.push_back(clear);
      table.clear();
    }
    run = {pixel};
  }
  codes.push_back(code_of(run));
  codes.push_back(clear + 1);
  return codes;
}

std::string Byte(size_t value) { return std::string(1, static_cast<char>(value)); }
std::string Number(size_t value) { return Byte(value & 255) + Byte(value >> 8); }

// One frame, of all colours of so many bits, in data blocks of `block` bytes.
std::string GifOf(size_t height, size_t width, int bits, const std::string& packed, size_t block = 255) {
  const int of_palette = std::min(bits, 8);
  std::string gif = "GIF89a" + Number(width) + Number(height) + Byte(0x80 | (of_palette - 1)) + Number(0);
  gif += std::string(size_t{3} << of_palette, '\x55');
  gif += "," + Number(0) + Number(0) + Number(width) + Number(height) + Byte(0) + Byte(bits);
  for (size_t at = 0; at < packed.size(); at += block) {
    const std::string part = packed.substr(at, block);
    gif += Byte(part.size()) + part;
  }
  return gif + Byte(0) + ";";
}

absl::StatusOr<Tensor> Decode(const std::string& gif) {
  return fixture::RunKernel("Decode", {{"mode", ir::StringValue("unchanged")}}, *Tensor::CopyBytes(DType::kBytes, gif));
}

std::string Refused(const Codes& codes, size_t pixels) {
  return fixture::MessageOf(Decode(GifOf(1, pixels, 2, Packed(codes, 2))));
}

TEST(GifCodes, GiveThePixelsThatAnEncoderWrote) {
  constexpr size_t kHeight = 130;
  constexpr size_t kWidth = 151;
  RowRandom random(3, 0, {});
  // Pixels of more than 8 bits have small values all the same.
  for (const int bits : {1, 2, 4, 7, 8, 9, 11, 12}) {
    // Noise; rows of one pixel; one pixel, whose codes name what is being written; a period of three.
    for (const uint64_t kind : {0, 1, 2, 3}) {
      Pixels pixels(kHeight * kWidth);
      for (size_t i = 0; i < pixels.size(); ++i) {
        const uint64_t drawn[] = {random.Below(256), i / kWidth, 1, i % 3};
        pixels[i] = static_cast<uint8_t>(drawn[kind] & ((1U << std::min(bits, 8)) - 1));
      }
      for (const bool clears : {true, false}) {
        const std::string packed = Packed(Encoded(pixels, bits, clears), bits);
        for (const size_t block : {size_t{255}, size_t{3}}) {
          const absl::StatusOr<Tensor> image = Decode(GifOf(kHeight, kWidth, bits, packed, block));
          ASSERT_TRUE(image.ok()) << image.status() << " " << bits << " " << kind;
          EXPECT_TRUE(std::equal(pixels.begin(), pixels.end(), image->raw())) << bits << " " << kind << " " << clears;
        }
      }
    }
  }
}

TEST(GifCodes, HaveAtMostTwelveBits) {
  const absl::StatusOr<Tensor> image = Decode(GifOf(1, 3, 9, Packed({512, 1, 258, 3}, 9)));
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(Pixels(image->raw(), image->raw() + 3), (Pixels{1, 2, 3}));
  EXPECT_THAT(fixture::MessageOf(Decode(GifOf(1, 3, 13, std::string(20, 'x')))), HasSubstr("damaged"));
}

TEST(GifCodes, MayGoOnBehindTheLastPixel) {
  const absl::StatusOr<Tensor> image = Decode(GifOf(1, 5, 2, Packed({4, 1, 6, 7, 2, 2, 3}, 2)));
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(Pixels(image->raw(), image->raw() + 5), Pixels(5, 1));
}

TEST(GifCodes, ThatNameNothingAreDamage) {
  EXPECT_THAT(Refused({4, 1, 7}, 5), HasSubstr("damaged"));
  EXPECT_THAT(Refused({4, 6}, 5), HasSubstr("damaged"));
  EXPECT_THAT(Refused({4, 1, 6, 4, 6}, 5), HasSubstr("damaged"));
}

TEST(GifCodes, EndWithThePixels) {
  EXPECT_THAT(Refused({4, 1, 1, 5}, 5), HasSubstr("ends early"));
  // An empty block ends the frame.
  EXPECT_THAT(Refused({4, 1, 1}, 50), HasSubstr("damaged"));
}

}  // namespace
}  // namespace headrace
