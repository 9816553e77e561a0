// TIFFs of odd writers, of forgers, and of all kinds of samples.
#include "kernels/vision/codecs/whole/tiff.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/poisoned_memory.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kGrey = 1, kRgb = 2, kCmyk = 5, kYCbCr = 6, kLab = 8;
constexpr uint32_t kDeflate = 8, kJpeg = 7, kNotPacked = 1;

std::string Little(uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(number >> 8 * i));
  return text;
}

// A file of one image, whose tags have one number or several.
struct TestTiff {
  std::map<uint32_t, std::vector<uint32_t>> tags;
  std::vector<std::string> parts;  // strips or tiles

  TestTiff(uint32_t width, uint32_t height, std::vector<uint32_t> bits, uint32_t photometric, uint32_t compression)
      : tags{{256, {width}},       {257, {height}},      {258, bits},
             {259, {compression}}, {262, {photometric}}, {277, {static_cast<uint32_t>(bits.size())}},
             {278, {height}}} {}

  std::string File() const {
    std::string file("II*\0\0\0\0\0", 8);
    std::vector<uint32_t> places;
    std::vector<uint32_t> sizes;
    for (const std::string& part : parts) {
      places.push_back(static_cast<uint32_t>(file.size()));
      sizes.push_back(static_cast<uint32_t>(part.size()));
      file += part + std::string(part.size() % 2, '\0');
    }
    std::map<uint32_t, std::vector<uint32_t>> all = tags;
    const bool tiled = tags.count(322) > 0;
    if (tiled) all.erase(278);
    all[tiled ? 324 : 273] = places;
    all[tiled ? 325 : 279] = sizes;
    std::string entries = Little(all.size(), 2);
    for (const auto& [tag, numbers] : all) {
      const bool is_long = tag == 256 || tag == 257 || tag == 278 || tag == 322 || tag == 323 || tag == 273 ||
                           tag == 324 || tag == 279 || tag == 325;
      std::string values;
      for (const uint32_t number : numbers) values += Little(number, is_long ? 4 : 2);
      entries += Little(tag, 2) + Little(is_long ? 4 : 3, 2) + Little(numbers.size(), 4);
      if (values.size() <= 4) {
        entries += values + std::string(4 - values.size(), '\0');
        continue;
      }
      entries += Little(file.size(), 4);
      file += values + std::string(values.size() % 2, '\0');
    }
    std::memcpy(file.data() + 4, Little(file.size(), 4).data(), 4);
    return file + entries + std::string(4, '\0');
  }
};

std::string Deflated(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  EXPECT_EQ(compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                      bytes.size(), 9),
            Z_OK);
  packed.resize(size);
  return packed;
}

absl::StatusOr<Tensor> DecodeTestTiff(const TestTiff& tiff, std::string_view mode = "RGB",
                                      int64_t max_pixels = 1 << 20) {
  return fixture::RunKernel("Decode", {{"mode", ir::StringValue(mode)}, {"max_pixels", ir::IntValue(max_pixels)}},
                            *Tensor::CopyBytes(DType::kBytes, tiff.File()));
}

std::vector<int> BytesOf(const absl::StatusOr<Tensor>& image) {
  if (!image.ok()) return {};
  return std::vector<int>(image->raw(), image->raw() + image->bytes());
}

template <typename T>
std::vector<T> NumbersOf(const absl::StatusOr<Tensor>& image) {
  EXPECT_TRUE(image.ok()) << image.status();
  if (!image.ok()) return {};
  EXPECT_EQ(image->dtype(), DTypeOf<T>::value);
  std::vector<T> numbers(static_cast<size_t>(image->elements()));
  std::memcpy(numbers.data(), image->raw(), image->bytes());
  return numbers;
}

template <typename T>
std::string Raw(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

// Over memory that held one byte and over memory that held another.
std::vector<int> BytesOverAnyMemory(const TestTiff& tiff, std::string_view mode = "unchanged") {
  std::vector<std::vector<int>> found;
  for (const uint8_t byte : {0x55, 0xaa}) {
    const fixture::PoisonedMemory memory(byte);
    found.push_back(BytesOf(DecodeTestTiff(tiff, mode)));
  }
  EXPECT_EQ(found[0], found[1]);
  return found[0];
}

std::string Repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Some writers fill the last strip up to the rows of the others.
TEST(Tiff, ReadsStripsThatHoldMoreThanTheirRows) {
  TestTiff tiff(100, 20, {8, 8, 8}, kRgb, kDeflate);
  tiff.tags[278] = {64};
  tiff.parts = {Deflated(Repeated("\x0b\x16\x21", 100 * 64))};
  const std::vector<int> pixels = BytesOverAnyMemory(tiff);
  ASSERT_EQ(pixels.size(), 6000U);
  for (size_t i = 0; i < pixels.size(); ++i) ASSERT_EQ(pixels[i], 11 * (1 + static_cast<int>(i % 3))) << i;
}

TEST(Tiff, ReadsNothingThatAForgedStripLacks) {
  TestTiff rows(80, 60, {8}, kGrey, kDeflate);
  rows.tags[278] = {1};
  rows.parts = std::vector<std::string>(60, Deflated(std::string(300, '\x0b')));
  EXPECT_EQ(BytesOverAnyMemory(rows), std::vector<int>(80 * 60, 11));
  // Rows whose second sample is dropped.
  TestTiff pairs(80, 60, {8, 8, 8, 8}, kRgb, kDeflate);
  pairs.tags[278] = {1};
  pairs.parts = std::vector<std::string>(60, Deflated(std::string(600, '\x0b')));
  EXPECT_EQ(BytesOverAnyMemory(pairs, "RGB"), std::vector<int>(3 * 80 * 60, 11));
  TestTiff tiles(80, 60, {8}, kGrey, kDeflate);
  tiles.tags[322] = tiles.tags[323] = {32};
  tiles.parts = std::vector<std::string>(6, Deflated(std::string(1100, '\x0b')));
  EXPECT_EQ(BytesOverAnyMemory(tiles), std::vector<int>(80 * 60, 11));
  TestTiff few = tiles;
  few.parts = std::vector<std::string>(6, Deflated(std::string(900, '\x0b')));
  EXPECT_EQ(BytesOverAnyMemory(few), std::vector<int>());
}

TEST(Tiff, AddsDifferencesOfDeflatedSamples) {
  for (const uint32_t extra : {0U, 7U}) {
    TestTiff tiff(4, 2, {8, 8, 8}, kRgb, kDeflate);
    tiff.tags[317] = {2};
    tiff.parts = {Deflated(Repeated("\x01\x02\x03\x01\x01\x01\x01\x01\x01\x01\x01\xff", 2) + std::string(extra, '\1'))};
    EXPECT_EQ(BytesOverAnyMemory(tiff),
              (std::vector<int>{1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 4, 1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 4}));
  }
  TestTiff words(3, 1, {16}, kGrey, kDeflate);
  words.tags[317] = {2};
  words.parts = {Deflated(Raw(std::vector<uint16_t>{1000, 1000, 65535}))};
  EXPECT_EQ(NumbersOf<uint16_t>(DecodeTestTiff(words, "unchanged")), (std::vector<uint16_t>{1000, 2000, 1999}));
}

TEST(Tiff, RefusesJpegsThatAreSmallerThanTheirStrip) {
  Tensor small = *Tensor::Allocate(DType::kUInt8, {8, 16, 3});
  std::fill_n(small.mutable_raw(), small.bytes(), uint8_t{200});
  const Tensor jpeg = *fixture::RunKernel("EncodeJpeg", {}, small);
  for (const auto& [width, height] : {std::pair{16U, 8U}, {64U, 8U}, {16U, 32U}}) {
    TestTiff tiff(width, height, {8, 8, 8}, kYCbCr, kJpeg);
    tiff.tags[530] = {2, 2};
    tiff.parts = {std::string(jpeg.bytes_value())};
    const std::vector<int> pixels = BytesOverAnyMemory(tiff);
    EXPECT_EQ(pixels.size(), width * height == 128 ? 384U : 0U) << width << " × " << height;
    if (width * height > 128) {
      EXPECT_THAT(fixture::MessageOf(DecodeTestTiff(tiff)), HasSubstr("Improper JPEG strip/tile size"));
    }
  }
}

TEST(Tiff, RefusesDamageOfAJpegWithin) {
  std::string file = fixture::ReadTestFile("jpeg.tiff");
  const size_t scan = file.find("\xff\xda");
  ASSERT_NE(scan, std::string::npos);
  std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(scan) + 60, 40, '\xff');
  const absl::StatusOr<Tensor> image = fixture::RunKernel("Decode", {}, *Tensor::CopyBytes(DType::kBytes, file));
  EXPECT_EQ(KindOf(image.status()), ErrorKind::kData) << image.status();
}

TEST(Tiff, BoundsWhatSamplesAndTilesUnpackTo) {
  TestTiff samples(100, 200, std::vector<uint32_t>(3, 8), kGrey, kDeflate);
  samples.tags[258] = {8};
  samples.tags[277] = {65000};
  samples.tags[278] = {1};
  samples.parts = std::vector<std::string>(200, Deflated(std::string(6500000, '\0')));
  EXPECT_THAT(fixture::MessageOf(DecodeTestTiff(samples, "unchanged")), HasSubstr("65000 samples of 8 bits"));
  TestTiff tiles(10, 10, {8}, kGrey, kDeflate);
  tiles.tags[322] = tiles.tags[323] = {16384};
  tiles.parts = {Deflated(std::string(100, '\0'))};
  EXPECT_THAT(fixture::MessageOf(DecodeTestTiff(tiles)), HasSubstr("tiles of 16384 × 16384 pixels"));
  // Tiles of a usual size around a small image.
  tiles.tags[322] = tiles.tags[323] = {256};
  tiles.parts = {Deflated(std::string(256 * 256, '\7'))};
  EXPECT_EQ(BytesOf(DecodeTestTiff(tiles, "L", 100)), std::vector<int>(100, 7));
  EXPECT_THAT(fixture::MessageOf(DecodeTestTiff(tiles, "L", 99)), HasSubstr("raise it: Decode(max_pixels=100)"));
}

TEST(Tiff, TakesNoMemoryForTilesFarLargerThanTheImage) {
  TestTiff tiles(10, 10, {8}, kGrey, kDeflate);
  tiles.tags[322] = tiles.tags[323] = {4096};
  tiles.parts = {Deflated(std::string(4096 * 4096, '\7'))};
  EXPECT_THAT(fixture::MessageOf(DecodeTestTiff(tiles, "L", int64_t{1} << 30)),
              HasSubstr("write it with smaller ones"));
  // One that the file's bytes cannot hold.
  tiles.tags[322] = tiles.tags[323] = {2048};
  tiles.parts = {Deflated(std::string(100, '\7'))};
  EXPECT_THAT(fixture::MessageOf(DecodeTestTiff(tiles, "L", int64_t{1} << 30)), HasSubstr("tiles are too large"));
  tiles.parts = {Deflated(std::string(2048 * 2048, '\7'))};
  EXPECT_EQ(BytesOf(DecodeTestTiff(tiles, "L", int64_t{1} << 30)), std::vector<int>(100, 7));
}

// Rows of long strips are read one by one.
TEST(Tiff, ReadsStripsOfAnyLength) {
  constexpr uint32_t kSide = 6000;
  std::string rows;
  for (uint32_t y = 0; y < kSide; ++y) {
    rows += static_cast<char>(y);
    rows += std::string(kSide - 1, '\1');
  }
  TestTiff tiff(kSide, kSide, {8}, kGrey, kDeflate);
  for (const uint32_t predictor : {1U, 2U}) {
    tiff.tags[317] = {predictor};
    tiff.parts = {Deflated(rows)};
    const absl::StatusOr<Tensor> image = DecodeTestTiff(tiff, "L", int64_t{1} << 30);
    ASSERT_TRUE(image.ok()) << image.status();
    size_t wrong = 0;
    for (uint32_t y = 0; y < kSide; y += 17) {
      const uint8_t* const row = image->raw() + size_t{y} * kSide;
      for (uint32_t x = 0; x < kSide; ++x) {
        const uint32_t wanted = predictor == 2 ? y + x : x == 0 ? y : 1;
        wrong += row[x] != static_cast<uint8_t>(wanted);
      }
    }
    EXPECT_EQ(wrong, 0u) << predictor;
    tiff.parts = {Deflated(rows.substr(0, rows.size() - 100))};
    EXPECT_EQ(KindOf(DecodeTestTiff(tiff, "L", int64_t{1} << 30).status()), ErrorKind::kData);
  }
}

TEST(Tiff, TakesWhiteFor0InFaxThatDoesNotSay) {
  std::string file = fixture::ReadTestFile("fax.tiff");
  const Tensor black_for_0 = *fixture::RunKernel("Decode", {}, *Tensor::CopyBytes(DType::kBytes, file));
  // The tag becomes one that nobody knows.
  const size_t at = file.find(std::string("\x06\x01\x03\0\1\0\0\0\1\0", 10));
  ASSERT_NE(at, std::string::npos);
  file[at + 1] = '\x7f';
  const absl::StatusOr<Tensor> image = fixture::RunKernel("Decode", {}, *Tensor::CopyBytes(DType::kBytes, file));
  ASSERT_TRUE(image.ok()) << image.status();
  ASSERT_EQ(image->shape(), black_for_0.shape());
  for (int64_t i = 0; i < image->elements(); ++i) ASSERT_EQ(image->raw()[i], 255 - black_for_0.raw()[i]);
}

// On every machine, whether libtiff has a decoder for it or not.
TEST(Tiff, RefusesJbig) {
  constexpr uint32_t kJbig = 34661;
  TestTiff tiff(8, 1, {1}, 0, kJbig);
  tiff.parts = {std::string(32, '\0')};
  for (const std::string_view mode : {"RGB", "L", "unchanged"}) {
    EXPECT_THAT(fixture::MessageOf(DecodeTestTiff(tiff, mode)), HasSubstr("compressed by JBIG, which is not decoded"));
  }
}

TEST(Tiff, GivesSeveralBandsWholeOrNotAtAll) {
  for (const uint32_t bands : {2U, 3U, 5U}) {
    TestTiff tiff(2, 1, std::vector<uint32_t>(bands, 8), kGrey, kNotPacked);
    std::vector<int> pixels;
    for (uint32_t i = 0; i < 2 * bands; ++i) pixels.push_back(static_cast<int>(10 + i));
    tiff.parts = {Raw(std::vector<uint8_t>(pixels.begin(), pixels.end()))};
    EXPECT_EQ(BytesOf(DecodeTestTiff(tiff, "unchanged")), pixels);
    EXPECT_THAT(fixture::MessageOf(DecodeTestTiff(tiff)), HasSubstr(Cat(bands, " bands of grey")));
  }
  TestTiff color(1, 1, std::vector<uint32_t>(5, 8), kRgb, kNotPacked);
  color.parts = {"\1\2\3\4\5"};
  EXPECT_EQ(BytesOf(DecodeTestTiff(color, "unchanged")), (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(BytesOf(DecodeTestTiff(color, "any")), (std::vector<int>{1, 2, 3}));
  color.tags[284] = {2};
  color.parts = {"\1", "\2", "\3", "\4", "\5"};
  EXPECT_EQ(BytesOf(DecodeTestTiff(color, "unchanged")), (std::vector<int>{1, 2, 3, 4, 5}));
}

template <typename T>
void ExpectNumbers(const std::vector<T>& numbers, uint32_t format, uint32_t photometric) {
  const uint32_t samples = photometric == kRgb ? 3 : 1;
  for (const uint32_t compression : {kNotPacked, kDeflate}) {
    TestTiff tiff(static_cast<uint32_t>(numbers.size()) / samples, 1, std::vector<uint32_t>(samples, 8 * sizeof(T)),
                  photometric, compression);
    tiff.tags[339] = std::vector<uint32_t>(samples, format);
    tiff.parts = {compression == kDeflate ? Deflated(Raw(numbers)) : Raw(numbers)};
    EXPECT_EQ(NumbersOf<T>(DecodeTestTiff(tiff, "unchanged")), numbers);
    EXPECT_EQ(NumbersOf<T>(DecodeTestTiff(tiff, "anydepth")), numbers);
    for (const char* mode : {"RGB", "L", "any"}) {
      EXPECT_THAT(fixture::MessageOf(DecodeTestTiff(tiff, mode)),
                  HasSubstr(Cat("samples of ", DTypeName(DTypeOf<T>::value), ", which have no range")));
    }
  }
}

TEST(Tiff, KeepsNumbersThatHaveNoRange) {
  ExpectNumbers<float>({-1.5F, 0.25F, 1e9F}, 3, kGrey);
  ExpectNumbers<float>({-1.5F, 0.25F, 1e9F}, 3, kRgb);
  ExpectNumbers<double>({-1.5, 0.25, 1e99}, 3, kGrey);
  ExpectNumbers<int8_t>({-128, 0, 127}, 2, kGrey);
  ExpectNumbers<int16_t>({-32768, 5, 32767}, 2, kGrey);
  ExpectNumbers<int32_t>({-2147483647, 5, 2147483647}, 2, kGrey);
  ExpectNumbers<int64_t>({-9000000000, 5, 9000000000}, 2, kGrey);
  ExpectNumbers<uint32_t>({0, 5, 4294967295}, 1, kGrey);
}

TEST(Tiff, ReadsSamplesOfAnyNumberOfBits) {
  TestTiff twelve(3, 2, {12}, kGrey, kNotPacked);
  twelve.parts = {std::string("\x00\x0f\xff\x80\x10\xff\xf0\x00\x80\x00", 10)};
  EXPECT_EQ(NumbersOf<uint16_t>(DecodeTestTiff(twelve, "unchanged")),
            (std::vector<uint16_t>{0, 4095, 2049, 4095, 0, 2048}));
  EXPECT_EQ(NumbersOf<uint16_t>(DecodeTestTiff(twelve, "anydepth")),
            (std::vector<uint16_t>{0, 65535, 2049 * 65535 / 4095, 65535, 0, 2048 * 65535 / 4095}));
  EXPECT_EQ(BytesOf(DecodeTestTiff(twelve, "L")), (std::vector<int>{0, 255, 128, 255, 0, 128}));
  TestTiff two(2, 1, {2, 2, 2}, kRgb, kNotPacked);
  two.parts = {"\x1b\x60"};
  EXPECT_EQ(BytesOf(DecodeTestTiff(two)), (std::vector<int>{0, 85, 170, 255, 85, 170}));
}

TEST(Tiff, DividesColorsByTheirAlphaAsPillow) {
  TestTiff tiff(4, 1, {8, 8, 8, 8}, kRgb, kNotPacked);
  tiff.tags[338] = {1};
  tiff.parts = {std::string("\x0a\x14\x1e\x64\x0a\x14\x1e\xff\x0a\x14\x1e\x00\x0a\x14\x1e\x0f", 16)};
  EXPECT_EQ(BytesOf(DecodeTestTiff(tiff)), (std::vector<int>{25, 51, 76, 10, 20, 30, 0, 0, 0, 170, 255, 255}));
  EXPECT_EQ(BytesOf(DecodeTestTiff(tiff, "any")),
            (std::vector<int>{25, 51, 76, 100, 10, 20, 30, 255, 0, 0, 0, 0, 170, 255, 255, 15}));
  EXPECT_EQ(BytesOf(DecodeTestTiff(tiff, "unchanged")),
            (std::vector<int>{10, 20, 30, 100, 10, 20, 30, 255, 10, 20, 30, 0, 10, 20, 30, 15}));
  tiff.tags[338] = {2};
  EXPECT_EQ(BytesOf(DecodeTestTiff(tiff)), (std::vector<int>{10, 20, 30, 10, 20, 30, 10, 20, 30, 10, 20, 30}));
  TestTiff deep(1, 1, {16, 16, 16, 16}, kRgb, kNotPacked);
  deep.tags[338] = {1};
  deep.parts = {Raw(std::vector<uint16_t>{0x0a00, 0x1400, 0x1e00, 0x6400})};
  EXPECT_EQ(BytesOf(DecodeTestTiff(deep)), (std::vector<int>{25, 51, 76}));
  EXPECT_EQ(NumbersOf<uint16_t>(DecodeTestTiff(deep, "anydepth")), (std::vector<uint16_t>{6553, 13107, 19660, 0x6400}));
}

TEST(Tiff, ConvertsOtherColors) {
  TestTiff inks(1, 1, {16, 16, 16, 16}, kCmyk, kNotPacked);
  inks.parts = {Raw(std::vector<uint16_t>{0xffff, 0, 0x8000, 0})};
  EXPECT_EQ(BytesOf(DecodeTestTiff(inks)), (std::vector<int>{0, 255, 127}));
  for (const uint32_t compression : {kNotPacked, kDeflate}) {
    TestTiff luma(2, 2, {8, 8, 8}, kYCbCr, compression);
    luma.tags[530] = {1, 1};
    const std::string pixels("\x80\x80\x80\xff\x80\x80\x4c\x55\xff\x00\x80\x80", 12);
    luma.parts = {compression == kDeflate ? Deflated(pixels + pixels) : pixels};
    const std::vector<int> rgb = BytesOverAnyMemory(luma, "RGB");
    ASSERT_EQ(rgb.size(), 12U);
    EXPECT_THAT((std::vector<int>{rgb.begin(), rgb.begin() + 6}), testing::ElementsAre(128, 128, 128, 255, 255, 255));
    EXPECT_GT(rgb[6], 250);
    EXPECT_LT(rgb[7] + rgb[8] + rgb[9], 8);
    EXPECT_EQ(BytesOverAnyMemory(luma, "unchanged"), rgb);
  }
  TestTiff lab(2, 1, {8, 8, 8}, kLab, kNotPacked);
  lab.parts = {std::string("\xff\x00\x00\x00\x05\xfb", 6)};
  EXPECT_EQ(BytesOf(DecodeTestTiff(lab, "unchanged")), (std::vector<int>{255, 128, 128, 0, 133, 123}));
  const std::vector<int> white = BytesOf(DecodeTestTiff(lab));
  ASSERT_EQ(white.size(), 6U);
  // libtiff keeps the white of D50, which is yellowish.
  for (int c = 0; c < 3; ++c) EXPECT_GT(white[static_cast<size_t>(c)], 210);
  EXPECT_LT(white[3] + white[4] + white[5], 60);
}

}  // namespace
}  // namespace headrace
