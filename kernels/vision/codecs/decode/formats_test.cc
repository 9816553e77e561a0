// Decode of the formats that are decoded whole, against Pillow's pixels.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "core/testing/rounds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/compare_part.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/codecs/decode/size_of_image.h"
#include "kernels/vision/codecs/whole/bmp.h"
#include "kernels/vision/codecs/whole/gif.h"
#include "kernels/vision/codecs/whole/tiff.h"

namespace headrace {
namespace {

using fixture::Encoded;
using fixture::Golden;
using fixture::LargestDifference;
using fixture::MessageOf;
using fixture::ReadTestFile;
using fixture::RunKernel;
using ::testing::HasSubstr;

fixture::Given ModeFormats(std::string_view mode) { return {{"mode", ir::StringValue(mode)}}; }

absl::StatusOr<Tensor> DecodeBytes(std::string_view bytes, const fixture::Given& given = {}) {
  return RunKernel("Decode", given, *Tensor::CopyBytes(DType::kBytes, bytes));
}

class FormatVariant : public ::testing::TestWithParam<const char*> {};

TEST_P(FormatVariant, EqualsPillowInRgb) {
  const Tensor golden = Golden(Cat(GetParam(), ".RGB"));
  ASSERT_FALSE(fixture::AllZero(golden));
  const absl::StatusOr<Tensor> image = RunKernel("Decode", {}, Encoded(GetParam()));
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(LargestDifference(*image, golden), 0) << image->TypeName();
}

TEST_P(FormatVariant, EqualsPillowInGrey) {
  const absl::StatusOr<Tensor> image = RunKernel("Decode", ModeFormats("L"), Encoded(GetParam()));
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(LargestDifference(*image, Golden(Cat(GetParam(), ".L"))), 0) << image->TypeName();
}

TEST_P(FormatVariant, IsKnownByItsFirstBytes) {
  const Tensor encoded = Encoded(GetParam());
  const EncodedFormat* const format = FormatOfEncoded(encoded.bytes_value());
  ASSERT_NE(format, nullptr);
  EXPECT_THAT(GetParam(), ::testing::HasSubstr(format->ending));
  EXPECT_EQ(FormatOfEncoded(encoded.bytes_value().substr(0, 2)), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Webp, FormatVariant,
                         ::testing::Values("lossy.webp", "lossless.webp", "lossy_alpha.webp", "lossless_alpha.webp",
                                           "animated.webp"));
INSTANTIATE_TEST_SUITE_P(Gif, FormatVariant,
                         ::testing::Values("palette.gif", "interlaced.gif", "transparent.gif", "part_of_screen.gif",
                                           "grey.gif", "animated.gif"));
INSTANTIATE_TEST_SUITE_P(Bmp, FormatVariant,
                         ::testing::Values("rgb.bmp", "grey.bmp", "palette.bmp", "black_white.bmp", "bits_1.bmp",
                                           "bits_4.bmp", "runs_4.bmp", "runs_8.bmp", "old_header.bmp", "bits_16.bmp",
                                           "fields_565.bmp", "bits_32.bmp", "from_top.bmp", "unused_alpha.bmp",
                                           "alpha.bmp"));
INSTANTIATE_TEST_SUITE_P(Tiff, FormatVariant,
                         ::testing::Values("rgb.tiff", "grey.tiff", "grey_alpha.tiff", "rgba.tiff", "palette.tiff",
                                           "black_white.tiff", "lzw.tiff", "deflate.tiff", "packbits.tiff", "fax.tiff",
                                           "cmyk.tiff", "strips.tiff", "big_endian.tiff", "tiles.tiff", "planes.tiff",
                                           "white_is_0.tiff"));

TEST(Formats, UnchangedKeepsWhatTheFileHolds) {
  for (const char* name : {"lossless_alpha.webp", "palette.gif", "alpha.bmp", "bits_4.bmp", "rgba.tiff", "palette.tiff",
                           "deep_rgb.tiff", "deep_grey.tiff"}) {
    const absl::StatusOr<Tensor> image = RunKernel("Decode", ModeFormats("unchanged"), Encoded(name));
    ASSERT_TRUE(image.ok()) << name << image.status();
    EXPECT_EQ(LargestDifference(*image, Golden(Cat(name, ".unchanged"))), 0) << name << image->TypeName();
  }
}

TEST(Formats, KeepsSixteenBitsWhereAnyDepthIsWanted) {
  for (const char* name : {"deep_rgb", "deep_grey"}) {
    const std::string little = Cat(name, ".tiff");
    for (const std::string& file : {little, Cat(name, "_big_endian.tiff")}) {
      const Tensor deep = *RunKernel("Decode", ModeFormats("anydepth"), Encoded(file));
      EXPECT_EQ(LargestDifference(deep, Golden(Cat(little, ".unchanged"))), 0) << file;
      const Tensor any = *RunKernel("Decode", ModeFormats("any"), Encoded(file));
      EXPECT_EQ(LargestDifference(any, Golden(Cat(little, ".any"))), 0) << file;
    }
  }
}

TEST(Formats, GivesAsManyChannelsAsTheImageHasColours) {
  const auto shape = [](const char* name) { return RunKernel("Decode", ModeFormats("any"), Encoded(name))->shape(); };
  EXPECT_EQ(shape("lossy.webp"), Shape({31, 45, 3}));
  EXPECT_EQ(shape("lossy_alpha.webp"), Shape({31, 45, 4}));
  EXPECT_EQ(shape("animated.webp"), Shape({31, 45, 4}));
  EXPECT_EQ(shape("palette.gif"), Shape({31, 45, 3}));
  EXPECT_EQ(shape("grey.tiff"), Shape({31, 45, 1}));
  EXPECT_EQ(shape("grey_alpha.tiff"), Shape({31, 45, 4}));
  EXPECT_EQ(LargestDifference(*RunKernel("Decode", ModeFormats("any"), Encoded("transparent.gif")),
                              Golden("transparent.gif.any")),
            0);
}

// The header of the file says whether there is alpha, as for Pillow; the canvas of libwebp always has it.
TEST(Formats, GivesAnimationsAlphaWhereTheirHeaderSaysSo) {
  std::string file = ReadTestFile("animated.webp");
  constexpr size_t kFlags = 20;
  constexpr char kAlpha = 0x10;
  ASSERT_EQ(file[kFlags] & kAlpha, kAlpha);
  file[kFlags] = static_cast<char>(file[kFlags] & ~kAlpha);
  EXPECT_EQ(RunKernel("Decode", ModeFormats("any"), *Tensor::CopyBytes(DType::kBytes, file))->shape(),
            Shape({31, 45, 3}));
}

TEST(Formats, TurnsByTheOrientationOnlyWhenAsked) {
  for (const char* name : {"orientation_6.webp", "orientation_6.tiff"}) {
    const Tensor upright = *RunKernel("Decode", {{"orientation", ir::BoolValue(true)}}, Encoded(name));
    EXPECT_EQ(LargestDifference(upright, Golden(Cat(name, ".turned"))), 0) << name;
    EXPECT_EQ(RunKernel("Decode", {}, Encoded(name))->shape(), Shape({31, 45, 3})) << name;
  }
}

TEST(Formats, ReadsWhatPillowDoesNot) {
  EXPECT_EQ(LargestDifference(*RunKernel("Decode", {}, Encoded("jpeg.tiff")), Golden("jpeg.tiff.RGB")), 0);
  EXPECT_EQ(LargestDifference(*RunKernel("Decode", ModeFormats("L"), Encoded("bits_4.tiff")), Golden("bits_4.tiff.L")),
            0);
  const Tensor stepped = *RunKernel("Decode", ModeFormats("unchanged"), Encoded("runs_with_step.bmp"));
  const auto index = [&](int64_t y, int64_t x) { return stepped.raw()[y * 45 + x]; };
  EXPECT_EQ(index(30, 44), 7);
  EXPECT_EQ(index(29, 4), 0);
  EXPECT_EQ(index(29, 5), 9);
  EXPECT_EQ(index(29, 44), 9);
  EXPECT_EQ(index(28, 0), 0);
}

// The masks of a BMP's colours, after its second header.
void SetMasks(std::string& bmp, const std::vector<uint32_t>& masks) {
  for (size_t i = 0; i < 4 * masks.size(); ++i) bmp[54 + i] = static_cast<char>(masks[i / 4] >> i % 4 * 8);
}

TEST(Formats, FindsTheBytesOfColorsByTheirMasks) {
  std::string alpha = ReadTestFile("alpha.bmp");
  const Tensor plain = *DecodeBytes(alpha, ModeFormats("unchanged"));
  SetMasks(alpha, {0xff0000, 0x00ff00, 0x0000ff});
  const Tensor swapped = *DecodeBytes(alpha, ModeFormats("unchanged"));
  ASSERT_EQ(swapped.shape(), plain.shape());
  for (int64_t i = 0; i < plain.elements(); i += 4) {
    for (const auto& [c, other] : {std::pair{0, 2}, {1, 1}, {2, 0}, {3, 3}}) {
      ASSERT_EQ(swapped.raw()[i + c], plain.raw()[i + other]);
    }
  }
  // Of 16 bits the third byte is none.
  std::string fields = ReadTestFile("fields_565.bmp");
  SetMasks(fields, {0xff0000, 0x00ff00, 0x0000ff});
  const Tensor beyond = *DecodeBytes(fields);
  int64_t others = 0;
  for (int64_t i = 0; i < beyond.elements(); i += 3) {
    ASSERT_EQ(beyond.raw()[i], 0);
    others += beyond.raw()[i + 1] + beyond.raw()[i + 2];
  }
  EXPECT_GT(others, 0);
}

// What some writers leave out, or write in the longer of two ways.
TEST(Formats, ReadsBmpsOfOddWriters) {
  for (const char* name : {"runs_4.bmp", "runs_8.bmp"}) {
    const std::string whole = ReadTestFile(name);
    ASSERT_EQ(whole.substr(whole.size() - 2), std::string("\0\1", 2));
    const Tensor pixels = *DecodeBytes(whole);
    // Neither the mark of the end, nor that of the last row.
    for (const size_t left_out : {2, 4}) {
      const absl::StatusOr<Tensor> image = DecodeBytes(whole.substr(0, whole.size() - left_out));
      ASSERT_TRUE(image.ok()) << name << image.status();
      EXPECT_EQ(LargestDifference(*image, pixels), 0);
    }
    EXPECT_THAT(MessageOf(DecodeBytes(whole.substr(0, whole.size() - 6))), HasSubstr("ends early"));
  }
  // 24 bits by fields, whose masks come between header and pixels.
  std::string fields = ReadTestFile("rgb.bmp");
  const Tensor pixels = *DecodeBytes(fields);
  fields[30] = 3;
  fields[10] = static_cast<char>(fields[10] + 12);
  fields.insert(54, std::string("\0\0\xff\0\0\xff\0\0\xff\0\0\0", 12));
  const absl::StatusOr<Tensor> image = DecodeBytes(fields);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(LargestDifference(*image, pixels), 0);
}

TEST(Formats, ReadsPnm) {
  const auto levels = [](std::string_view bytes, std::string_view mode) {
    const absl::StatusOr<Tensor> image = DecodeBytes(bytes, ModeFormats(mode));
    EXPECT_TRUE(image.ok()) << image.status();
    return image.ok() ? std::vector<int>(image->raw(), image->raw() + image->bytes()) : std::vector<int>();
  };
  using Levels = std::vector<int>;
  EXPECT_EQ(levels("P1\n# a comment\n3 2\n0 1 0\n110", "L"), (Levels{255, 0, 255, 0, 0, 255}));
  EXPECT_EQ(levels("P2 2 2 10 0 5 10 1", "unchanged"), (Levels{0, 128, 255, 26}));
  EXPECT_EQ(levels("P3\n1 1\n255\n1 2 3\n", "RGB"), (Levels{1, 2, 3}));
  EXPECT_EQ(levels(std::string("P4\n9 1\n\x55\x80", 9), "L"), (Levels{255, 0, 255, 0, 255, 0, 255, 0, 0}));
  EXPECT_EQ(levels("P5\n2 1\n255\nab", "L"), (Levels{'a', 'b'}));
  EXPECT_EQ(levels("P6\n1 1\n255\nabc", "RGB"), (Levels{'a', 'b', 'c'}));
  EXPECT_EQ(levels(std::string("P5\n1 1\n65535\n\x12\x34", 15), "L"), (Levels{0x12}));
  EXPECT_EQ(levels(std::string("P5\n1 1\n65535\n\x12\x34", 15), "unchanged"), (Levels{0x34, 0x12}));
  EXPECT_EQ(FormatOfEncoded("P5\n1 1\n255\na")->name, "PNM");
  for (const char* cut : {"P5\n2 1\n255\na", "P2\n2 1\n255\n3 ", "P1\n3 1\n01", "P4\n9 1\n1"}) {
    EXPECT_THAT(MessageOf(DecodeBytes(cut)), HasSubstr("the PNM ends early")) << cut;
  }
  EXPECT_THAT(MessageOf(DecodeBytes("P5\n2 x\n255\nab")), HasSubstr("its header has no width"));
  EXPECT_THAT(MessageOf(DecodeBytes("P2\n2 1\n9\n10 1")), HasSubstr("a pixel is not a number from 0 to 9"));
  EXPECT_THAT(MessageOf(DecodeBytes("P5\n1000000 1000000\n255\nab")), HasSubstr("more than max_pixels"));
}

TEST(Formats, SaysWhatAFileIsThatItDoesNotRead) {
  const auto said = [](std::string_view bytes) { return MessageOf(DecodeBytes(bytes)); };
  EXPECT_THAT(said(std::string("\0\0\0\x1c"
                               "ftypavif\0\0\0\0mif1miaf",
                               24)),
              HasSubstr("TIFF or PNM, but AVIF: starts"));
  EXPECT_THAT(said(std::string("\0\0\0\x1c"
                               "ftypmif1\0\0\0\0avifmiaf",
                               24)),
              HasSubstr("but AVIF"));
  EXPECT_THAT(said(std::string("\0\0\0\x18"
                               "ftypheic\0\0\0\0mif1heic",
                               24)),
              HasSubstr("but HEIC"));
  EXPECT_THAT(said("8BPS\1\2"), HasSubstr("convert it to one of these formats"));
  EXPECT_THAT(said("<svg width='3'>"), HasSubstr("but SVG"));
  EXPECT_THAT(said("\x1f\x8b and so on"), HasSubstr("but gzip: starts with 1f 8b 20"));
  EXPECT_THAT(said("<!DOCTYPE html><html>not found</html>"), HasSubstr("; it may be the page of an error"));
  EXPECT_THAT(said("version https://git-lfs.github.com/spec/v1"), HasSubstr("; fetch the file that it stands for"));
  EXPECT_THAT(said("nothing"), ::testing::Not(HasSubstr("but ")));
}

TEST(Formats, NamesWhatItDoesNotRead) {
  EXPECT_THAT(MessageOf(RunKernel("Decode", {}, Encoded("float.tiff"))),
              HasSubstr("the TIFF has samples of float32, which have no range that could become 0 … 255"));
  std::string packed = ReadTestFile("rgb.bmp");
  packed[30] = 4;
  EXPECT_THAT(MessageOf(DecodeBytes(packed)), HasSubstr("the BMP has 24 bits a pixel and compression 4"));
  EXPECT_THAT(MessageOf(RunKernel("Decode", {}, Encoded("huge.tiff"))), HasSubstr("raise it: Decode(max_pixels="));
  const absl::StatusOr<Tensor> huge =
      RunKernel("Decode", {{"max_pixels", ir::IntValue(int64_t{1} << 40)}}, Encoded("huge.tiff"));
  EXPECT_THAT(MessageOf(huge), HasSubstr("which cannot hold its 60000 × 60000 pixels"));
  EXPECT_THAT(MessageOf(RunKernel("Decode", {{"scale", ir::IntValue(2)}}, Encoded("lossy.webp"))),
              HasSubstr("this is a WebP"));
  // Text that happens to begin like a BMP.
  EXPECT_THAT(MessageOf(DecodeBytes("BMI is a number of doctors")), HasSubstr("not a JPEG, PNG"));
}

const std::vector<const char*>& Samples() {
  static const std::vector<const char*> names = {
      "lossy.webp",     "lossless.webp", "lossy_alpha.webp", "animated.webp", "orientation_6.webp", "palette.gif",
      "interlaced.gif", "animated.gif",  "rgb.bmp",          "runs_4.bmp",    "runs_8.bmp",         "fields_565.bmp",
      "alpha.bmp",      "lzw.tiff",      "deflate.tiff",     "packbits.tiff", "fax.tiff",           "cmyk.tiff",
      "tiles.tiff",     "planes.tiff",   "jpeg.tiff",        "deep_rgb.tiff", "palette.tiff",       "rgba.tiff"};
  return names;
}

TEST(Formats, FindsEveryTruncation) {
  for (const char* name : Samples()) {
    const std::string whole = ReadTestFile(name);
    const Tensor pixels = *DecodeBytes(whole);
    int refused = 0;
    for (size_t length = 0; length < whole.size(); length += 1 + whole.size() / 300) {
      const absl::StatusOr<Tensor> cut = DecodeBytes(whole.substr(0, length));
      if (cut.ok()) {
        EXPECT_EQ(LargestDifference(*cut, pixels), 0) << name << " of " << length << " bytes lost pixels in silence";
        continue;
      }
      ++refused;
      EXPECT_EQ(KindOf(cut.status()), ErrorKind::kData) << name << cut.status();
    }
    EXPECT_GT(refused, 0) << name;
  }
}

TEST(Formats, SurvivesMutatedFiles) {
  const int rounds = Rounds(20000, {.quick = 4000, .sanitized = 4000});
  std::vector<std::string> files;
  for (const char* name : Samples()) files.push_back(ReadTestFile(name));
  int decoded = 0;
  for (int round = 0; round < rounds; ++round) {
    RowRandom random(17, 0, {.key = static_cast<uint64_t>(round)});
    std::string bytes = files[random.Below(files.size())];
    for (uint64_t left = 1 + random.Below(8); left > 0; --left) {
      // Half of the changes fall on headers, of which those of a TIFF are at its end.
      const uint64_t reach = random.Below(2) == 0 ? std::min<uint64_t>(bytes.size(), 200) : bytes.size();
      const uint64_t from = random.Below(2) == 0 ? 0 : bytes.size() - reach;
      bytes[from + random.Below(reach)] = static_cast<char>(random.Below(256));
    }
    if (random.Below(4) == 0) bytes.resize(1 + random.Below(bytes.size()));
    const absl::StatusOr<Tensor> image =
        DecodeBytes(bytes, {{"max_pixels", ir::IntValue(1 << 18)}, {"orientation", ir::BoolValue(true)}});
    decoded += image.ok();
    ASSERT_TRUE(image.ok() || KindOf(image.status()) == ErrorKind::kData) << image.status();
  }
  EXPECT_GT(decoded, 0);
  EXPECT_LT(decoded, rounds);
  std::printf("HEADRACE-COUNT fuzz=%d\n", rounds);
}

TEST(Formats, EndsWhenTheSignalIsRaised) {
  const std::atomic<bool> stop = true;
  const StopSignal signal(&stop);
  const auto all = [](int64_t height, int64_t width) -> absl::StatusOr<WantedPart> {
    return Window{0, 0, height, width};
  };
  EXPECT_EQ(KindOf(DecodeGif(ReadTestFile("palette.gif"), {}, all).status()), ErrorKind::kClosed);
  EXPECT_EQ(KindOf(DecodeBmp(ReadTestFile("runs_8.bmp"), {}, all).status()), ErrorKind::kClosed);
  EXPECT_EQ(KindOf(DecodeTiff(ReadTestFile("tiles.tiff"), {}, all).status()), ErrorKind::kClosed);
}

}  // namespace
}  // namespace headrace
