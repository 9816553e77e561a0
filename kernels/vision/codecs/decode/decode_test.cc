#include <sys/resource.h>
#include <zlib.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// clang-format off
#include <jpeglib.h>  // needs size_t and FILE from above
// clang-format on

#include "core/error.h"
#include "core/stop_signal.h"
#include "core/testing/rounds.h"
#include "core/work_counts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph.pb.h"
#include "kernels/testing/compare_part.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/codecs/exif.h"
#include "kernels/vision/codecs/png/png.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {
namespace {

using fixture::Encoded;
using fixture::Golden;
using fixture::InferType;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

fixture::Given ModeDecode(std::string_view mode) { return {{"mode", ir::StringValue(mode)}}; }

class DecodeVariant : public ::testing::TestWithParam<const char*> {};

TEST_P(DecodeVariant, EqualsPillowInRgb) {
  const Tensor golden = Golden(Cat(GetParam(), ".RGB"));
  ASSERT_FALSE(fixture::AllZero(golden));
  const absl::StatusOr<Tensor> image = RunKernel("Decode", {}, Encoded(GetParam()));
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(fixture::LargestDifference(*image, golden), 0) << image->TypeName();
}

TEST_P(DecodeVariant, EqualsPillowInGrey) {
  const Tensor golden = Golden(Cat(GetParam(), ".L"));
  const absl::StatusOr<Tensor> image = RunKernel("Decode", ModeDecode("L"), Encoded(GetParam()));
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(fixture::LargestDifference(*image, golden), 0) << image->TypeName();
}

INSTANTIATE_TEST_SUITE_P(Jpeg, DecodeVariant,
                         ::testing::Values("baseline_420.jpg", "baseline_422.jpg", "baseline_444.jpg",
                                           "progressive.jpg", "restarts.jpg", "rgb.jpg", "grey.jpg", "cmyk.jpg",
                                           "ycck.jpg"));
INSTANTIATE_TEST_SUITE_P(Png, DecodeVariant,
                         ::testing::Values("rgb.png", "rgba.png", "grey.png", "grey_alpha.png", "black_white.png",
                                           "palette.png", "palette_4_bits.png", "palette_transparent.png",
                                           "interlaced.png", "rgb_16_bits.png"));

TEST(Decode, KeepsTheHigherByteOf16BitGrey) {
  const Tensor golden = Golden("grey_16_bits.png.L");
  EXPECT_EQ(fixture::LargestDifference(*RunKernel("Decode", ModeDecode("L"), Encoded("grey_16_bits.png")), golden), 0);
  const Tensor rgb = *RunKernel("Decode", {}, Encoded("grey_16_bits.png"));
  for (int64_t i = 0; i < golden.elements(); ++i) {
    for (int c = 0; c < 3; ++c) ASSERT_EQ(rgb.raw()[i * 3 + c], golden.raw()[i]);
  }
}

TEST(Decode, UnchangedKeepsTheChannelsOfTheFile) {
  for (const char* name : {"rgba.png", "grey_alpha.png"}) {
    const Tensor image = *RunKernel("Decode", ModeDecode("unchanged"), Encoded(name));
    EXPECT_EQ(fixture::LargestDifference(image, Golden(Cat(name, ".unchanged"))), 0) << name << image.TypeName();
  }
  for (const char* name : {"grey.jpg", "grey.png"}) {
    const Tensor image = *RunKernel("Decode", ModeDecode("unchanged"), Encoded(name));
    EXPECT_EQ(fixture::LargestDifference(image, Golden(Cat(name, ".L"))), 0) << name;
  }
  for (const char* name : {"cmyk.jpg", "baseline_420.jpg"}) {
    const Tensor image = *RunKernel("Decode", ModeDecode("unchanged"), Encoded(name));
    EXPECT_EQ(fixture::LargestDifference(image, Golden(Cat(name, ".RGB"))), 0) << name;
  }
}

// Masks are stored so: classes as indices of a palette, depths in 16 bits.
TEST(Decode, UnchangedKeepsPaletteIndicesAnd16Bits) {
  for (const char* name : {"palette.png", "palette_4_bits.png", "rgb_16_bits.png", "grey_16_bits.png"}) {
    const Tensor expected = Golden(Cat(name, ".unchanged"));
    ASSERT_FALSE(fixture::AllZero(expected));
    const Tensor image = *RunKernel("Decode", ModeDecode("unchanged"), Encoded(name));
    EXPECT_TRUE(TensorsEqual(image, expected)) << name << image.TypeName();
  }
  EXPECT_TRUE(TensorsEqual(*RunKernel("Decode", ModeDecode("unchanged"), Encoded("palette_transparent.png")),
                           Golden("palette.png.unchanged")));
  fixture::Given turned = ModeDecode("unchanged");
  turned.emplace_back("orientation", ir::BoolValue(true));
  EXPECT_TRUE(
      TensorsEqual(*RunKernel("Decode", turned, Encoded("palette_upright.png")), Golden("palette_upright.png.turned")));
}

TEST(Decode, SaysThatThisProgramHasNoNvJpeg) {
  const absl::StatusOr<Tensor> image =
      RunKernel("Decode", {{"decoder", ir::StringValue("nvjpeg")}}, Encoded("baseline_420.jpg"));
  EXPECT_EQ(KindOf(image.status()), ErrorKind::kUnsupported);
  EXPECT_EQ(MessageOf(image), "this program has no decoder on a GPU: leave decoder out");
}

TEST(Decode, RefusesGraphsOfTheVersionThatResolvedPalettes) {
  const ir::Declaration& decode = *ir::Registry::Global().Find("Decode");
  std::vector<std::pair<std::string, ir::proto::Value>> attributes = {{"mode", ir::StringValue("RGB")}};
  EXPECT_TRUE(decode.upgrade(1, attributes).ok());
  attributes[0].second = ir::StringValue("unchanged");
  EXPECT_THAT(std::string(decode.upgrade(1, attributes).message()), HasSubstr("keeps palette indices and 16 bits"));
}

TEST(Decode, TurnsByExifOnlyWhenAsked) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string name = Cat("orientation_", orientation, ".jpg");
    const Tensor plain = *RunKernel("Decode", {}, Encoded(name));
    EXPECT_EQ(fixture::LargestDifference(plain, Golden("orientation_1.jpg.RGB")), 0) << name;
    const Tensor turned = *RunKernel("Decode", {{"orientation", ir::BoolValue(true)}}, Encoded(name));
    EXPECT_EQ(fixture::LargestDifference(turned, Golden(Cat(name, ".turned"))), 0) << name;
  }
  const Tensor turned = *RunKernel("Decode", {{"orientation", ir::BoolValue(true)}}, Encoded("orientation_6.png"));
  EXPECT_EQ(fixture::LargestDifference(turned, Golden("orientation_6.png.turned")), 0);
}

std::string PngChunk(std::string_view type, std::string_view content) {
  const auto big_endian = [](uint32_t number) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift));
    return bytes;
  };
  const std::string checked = Cat(type, content);
  const uLong checksum = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return Cat(big_endian(static_cast<uint32_t>(content.size())), checked, big_endian(static_cast<uint32_t>(checksum)));
}

Tensor UprightPng(const std::string& png) {
  return *RunKernel("Decode", {{"orientation", ir::BoolValue(true)}}, *Tensor::CopyBytes(DType::kBytes, png));
}

// An EXIF block with the orientation 6, as a number of this type.
std::string ExifOfType(char type, std::string_view value) {
  return Cat(std::string("II*\0\x08\0\0\0\1\0\x12\1", 12), std::string{type, '\0', '\1', '\0', '\0', '\0'}, value,
             std::string(4, '\0'));
}

TEST(Decode, TurnsPngsByExifWhereverItIs) {
  const std::string png = fixture::ReadTestFile("rgb.png");
  const std::string_view begin = std::string_view(png).substr(0, 33);
  const std::string_view pixels = std::string_view(png).substr(33, png.size() - 45);
  const std::string_view end = std::string_view(png).substr(png.size() - 12);
  const std::string exif = ExifOfType(3, std::string("\6\0\0\0", 4));
  const Tensor turned = UprightPng(Cat(begin, PngChunk("eXIf", exif), pixels, end));
  EXPECT_EQ(turned.shape(), Shape({53, 37, 3}));
  const auto expect_turned = [&](const std::string& file) { EXPECT_TRUE(TensorsEqual(UprightPng(file), turned)); };
  expect_turned(Cat(begin, pixels, PngChunk("eXIf", exif), end));
  // The older text, as ImageMagick writes it.
  std::string digits;
  for (const char byte : Cat(std::string("Exif\0\0", 6), exif)) {
    constexpr char kDigits[] = "0123456789abcdef";
    digits += kDigits[static_cast<uint8_t>(byte) >> 4];
    digits += kDigits[static_cast<uint8_t>(byte) & 15];
    if (digits.size() % 73 == 72) digits += '\n';
  }
  const std::string text = Cat("\nexif\n      40\n", digits, "\n");
  std::string packed(compressBound(text.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size());
  packed.resize(size);
  const std::string keyword("Raw profile type exif\0", 22);
  expect_turned(Cat(begin, PngChunk("tEXt", Cat(keyword, text)), pixels, end));
  expect_turned(Cat(begin, PngChunk("zTXt", Cat(keyword, std::string(1, '\0'), packed)), pixels, end));
  expect_turned(Cat(begin, pixels, PngChunk("zTXt", Cat(keyword, std::string(1, '\0'), packed)), end));
  expect_turned(Cat(begin, PngChunk("iTXt", Cat(keyword, std::string("\1\0\0\0", 4), packed)), pixels, end));
  // The chunk counts more than the text, and what is damaged not at all.
  const std::string plain = PngChunk("eXIf", ExifOfType(3, std::string("\1\0\0\0", 4)));
  EXPECT_EQ(UprightPng(Cat(begin, PngChunk("tEXt", Cat(keyword, text)), pixels, plain, end)).dim(0), 37);
  std::string damaged = PngChunk("eXIf", exif);
  damaged.back() ^= 1;
  EXPECT_EQ(UprightPng(Cat(begin, pixels, damaged, end)).dim(0), 37);
}

TEST(Decode, TakesOrientationsOfAnyIntegerType) {
  const std::string six("\6\0\0\0", 4);
  for (const char type : {3, 4, 8, 9}) EXPECT_EQ(ExifOrientation(ExifOfType(type, six)), 6) << int{type};
  for (const char type : {1, 2, 5, 7, 11, 13}) EXPECT_EQ(ExifOrientation(ExifOfType(type, six)), 1) << int{type};
  EXPECT_EQ(ExifOrientation(ExifOfType(4, std::string("\6\0\1\0", 4))), 1);
  EXPECT_EQ(ExifOrientation(ExifOfType(9, std::string("\xff\xff\xff\xff", 4))), 1);
  std::string several = ExifOfType(4, std::string("\6\0\0\0", 4));
  several[14] = 2;
  EXPECT_EQ(ExifOrientation(several), 1);
  EXPECT_EQ(ExifOrientation(std::string("MM\0*\0\0\0\x08\0\1\1\x12\0\4\0\0\0\1\0\0\0\3\0\0\0\0", 26)), 3);
}

TEST(Decode, TakesBytesAsAVectorToo) {
  const std::string bytes = fixture::ReadTestFile("grey.jpg");
  Tensor vector = *Tensor::Allocate(DType::kUInt8, {static_cast<int64_t>(bytes.size())});
  std::copy(bytes.begin(), bytes.end(), vector.mutable_raw());
  EXPECT_EQ(fixture::LargestDifference(*RunKernel("Decode", {}, vector), Golden("grey.jpg.RGB")), 0);
}

TEST(Decode, RefusesWhatIsNoImage) {
  const absl::StatusOr<Tensor> other =
      RunKernel("Decode", {}, *Tensor::CopyBytes(DType::kBytes, "8BPS\x01\x02 and so on"));
  EXPECT_EQ(KindOf(other.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(other),
              HasSubstr("not a JPEG, PNG, WebP, GIF, BMP, TIFF or PNM, but Photoshop's PSD: starts with "
                        "38 42 50 53 01 02 20 61 ('8BPS.. a')"));
  const absl::StatusOr<Tensor> empty = RunKernel("Decode", {}, *Tensor::CopyBytes(DType::kBytes, ""));
  EXPECT_EQ(KindOf(empty.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(empty), HasSubstr("empty"));
  const absl::StatusOr<Tensor> image = RunKernel("Decode", {}, Golden("source"));
  EXPECT_EQ(KindOf(image.status()), ErrorKind::kGraph);
  EXPECT_THAT(MessageOf(image), HasSubstr("uint8 (60, 80, 3)"));
}

TEST(Decode, RefusesDataThatEndEarly) {
  for (const char* name : {"truncated_baseline.jpg", "truncated_progressive.jpg", "truncated.png"}) {
    const absl::StatusOr<Tensor> image = RunKernel("Decode", {}, Encoded(name));
    EXPECT_EQ(KindOf(image.status()), ErrorKind::kData) << name;
    EXPECT_THAT(MessageOf(image), HasSubstr("truncated")) << name;
  }
}

// Cuts both formats everywhere: only the end marker, and what follows the pixels, may be missing.
TEST(Decode, FindsEveryTruncation) {
  for (const char* name : {"baseline_420.jpg", "baseline_444.jpg", "progressive.jpg", "restarts.jpg", "grey.jpg",
                           "cmyk.jpg", "rgb.png", "interlaced.png", "palette.png"}) {
    const std::string whole = fixture::ReadTestFile(name);
    const Tensor golden = Golden(Cat(name, ".RGB"));
    for (size_t size = 0; size < whole.size(); ++size) {
      const absl::StatusOr<Tensor> image =
          RunKernel("Decode", {}, *Tensor::CopyBytes(DType::kBytes, std::string_view(whole).substr(0, size)));
      if (image.ok()) {
        ASSERT_EQ(fixture::LargestDifference(*image, golden), 0)
            << name << " cut to " << size << " of " << whole.size();
      } else {
        ASSERT_EQ(KindOf(image.status()), ErrorKind::kData) << image.status();
      }
    }
  }
}

TEST(Decode, RefusesADamagedPng) {
  const absl::StatusOr<Tensor> image = RunKernel("Decode", {}, Encoded("damaged.png"));
  EXPECT_EQ(KindOf(image.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(image), HasSubstr("damaged"));
}

// Puts another chunk before the first of the image's data.
std::string WithChunk(const std::string& png, std::string_view type, std::string_view content) {
  const std::string body = Cat(type, content);
  const auto number = [](uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  const size_t at = png.find("IDAT") - 4;
  return Cat(png.substr(0, at), number(static_cast<uint32_t>(content.size())), body, number(static_cast<uint32_t>(crc)),
             png.substr(at));
}

TEST(Decode, UnpacksNoTextsAndProfilesOfAPng) {
  const std::string zeros(64 << 20, '\0');
  std::string packed(compressBound(zeros.size()), '\0');
  uLongf size = packed.size();
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(zeros.data()), zeros.size(),
            9);
  packed.resize(size);
  const std::string plain = fixture::ReadTestFile("rgb.png");
  const std::string png = WithChunk(WithChunk(plain, "zTXt", Cat(std::string("a\0\0", 3), packed)), "iCCP",
                                    Cat(std::string("a\0\0", 3), packed));
  rusage before = {}, after = {};
  getrusage(RUSAGE_SELF, &before);
  const absl::StatusOr<Tensor> image = RunKernel("Decode", {}, *Tensor::CopyBytes(DType::kBytes, png));
  getrusage(RUSAGE_SELF, &after);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_TRUE(TensorsEqual(*image, *RunKernel("Decode", {}, *Tensor::CopyBytes(DType::kBytes, plain))));
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 << 10);
}

TEST(Decode, RefusesAPngOfTooFewBytes) {
  std::string png = fixture::ReadTestFile("rgb.png");
  // 10,000 rows and columns; the checksum of the header is wrong as well, which comes first unless it is made anew.
  const std::string side("\0\0\x27\x10", 4);
  png.replace(16, 4, side);
  png.replace(20, 4, side);
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(png.data() + 12), 17);
  for (int i = 0; i < 4; ++i) png[29 + i] = static_cast<char>(crc >> (24 - 8 * i));
  const absl::StatusOr<Tensor> image = RunKernel("Decode", {}, *Tensor::CopyBytes(DType::kBytes, png));
  EXPECT_EQ(KindOf(image.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(image), HasSubstr("which cannot hold its 10000 × 10000 pixels"));
}

TEST(Decode, GivesAsManyChannelsAsTheImageHasColours) {
  for (const char* name : {"grey.png", "grey.jpg", "grey_16_bits.png", "black_white.png"}) {
    EXPECT_TRUE(TensorsEqual(*RunKernel("Decode", ModeDecode("any"), Encoded(name)),
                             *RunKernel("Decode", ModeDecode("L"), Encoded(name))))
        << name;
  }
  for (const char* name :
       {"rgb.png", "baseline_420.jpg", "palette.png", "palette_4_bits.png", "rgb_16_bits.png", "cmyk.jpg"}) {
    EXPECT_TRUE(TensorsEqual(*RunKernel("Decode", ModeDecode("any"), Encoded(name)),
                             *RunKernel("Decode", ModeDecode("RGB"), Encoded(name))))
        << name;
  }
  for (const char* name : {"rgba.png", "grey_alpha.png", "palette_transparent.png"}) {
    const Tensor image = *RunKernel("Decode", ModeDecode("any"), Encoded(name));
    ASSERT_EQ(image.dim(2), 4) << name;
    EXPECT_TRUE(
        TensorsEqual(*image.Slice(2, 0, 3).Contiguous(), *RunKernel("Decode", ModeDecode("RGB"), Encoded(name))))
        << name;
  }
  EXPECT_TRUE(TensorsEqual(*RunKernel("Decode", ModeDecode("any"), Encoded("rgba.png")), Golden("rgba.png.unchanged")));
}

TEST(Decode, KeepsSixteenBitsWhereAnyDepthIsWanted) {
  for (const char* name : {"grey_16_bits.png", "rgb_16_bits.png"}) {
    const Tensor image = *RunKernel("Decode", ModeDecode("anydepth"), Encoded(name));
    ASSERT_EQ(image.dtype(), DType::kUInt16) << name;
    EXPECT_TRUE(TensorsEqual(image, Golden(Cat(name, ".unchanged")))) << name;
  }
  for (const char* name : {"grey.png", "rgb.png", "rgba.png", "grey_alpha.png", "palette.png",
                           "palette_transparent.png", "black_white.png", "baseline_420.jpg", "grey.jpg", "cmyk.jpg"}) {
    EXPECT_TRUE(TensorsEqual(*RunKernel("Decode", ModeDecode("anydepth"), Encoded(name)),
                             *RunKernel("Decode", ModeDecode("any"), Encoded(name))))
        << name;
  }
  const ir::ColumnType type = *InferType("Decode", ModeDecode("anydepth"), {ir::ColumnType::Of(DType::kBytes, {})});
  EXPECT_EQ(type.dtype, DType::kUnknown);
}

TEST(Decode, EndsWhenTheSignalIsRaised) {
  const std::atomic<bool> stop = true;
  const StopSignal signal(&stop);
  for (const char* name : {"rgb.png", "baseline_420.jpg"}) {
    EXPECT_EQ(KindOf(RunKernel("Decode", {}, Encoded(name)).status()), ErrorKind::kClosed) << name;
  }
  // During the read, where nothing was checked before.
  const auto all = [](int64_t height, int64_t width) -> absl::StatusOr<WantedPart> {
    return Window{0, 0, height, width};
  };
  EXPECT_EQ(KindOf(DecodePng(fixture::ReadTestFile("interlaced.png"), {}, all).status()), ErrorKind::kClosed);
}

TEST(Decode, AcceptsFaultsThatLoseNoPixel) {
  for (const char* name : {"stray_bytes.jpg", "no_end_marker.jpg"}) {
    const absl::StatusOr<Tensor> image = RunKernel("Decode", {}, Encoded(name));
    ASSERT_TRUE(image.ok()) << name << image.status();
    EXPECT_EQ(fixture::LargestDifference(*image, Golden("baseline_420.jpg.RGB")), 0) << name;
  }
}

TEST(Decode, RefusesHugeImagesBeforeTakingMemory) {
  for (const char* name : {"huge.jpg", "huge.png"}) {
    const int64_t before = BufferPool::Global().outstanding_bytes();
    const Tensor encoded = Encoded(name);
    ASSERT_LE(encoded.bytes(), 2048u);
    const absl::StatusOr<Tensor> image = RunKernel("Decode", {}, encoded);
    EXPECT_EQ(KindOf(image.status()), ErrorKind::kData) << name;
    EXPECT_THAT(MessageOf(image), HasSubstr("60000 × 60000")) << name;
    EXPECT_THAT(MessageOf(image), HasSubstr("Decode(max_pixels=3600000000)")) << name;
    EXPECT_LT(BufferPool::Global().outstanding_bytes() - before, 1 << 16) << name;
  }
}

TEST(Decode, MeasuresPixelsAgainstTheLimit) {
  const int64_t pixels = 61 * 47;
  EXPECT_TRUE(RunKernel("Decode", {{"max_pixels", ir::IntValue(pixels)}}, Encoded("grey.jpg")).ok());
  EXPECT_FALSE(RunKernel("Decode", {{"max_pixels", ir::IntValue(pixels - 1)}}, Encoded("grey.jpg")).ok());
  EXPECT_TRUE(RunKernel("Decode", {{"max_pixels", ir::NoneValue()}}, Encoded("grey.jpg")).ok());
}

// What libjpeg-turbo itself makes of an image of one or three components at 1/scale, in RGB.
Tensor ScaledByLibjpeg(const std::string& bytes, int scale) {
  jpeg_decompress_struct libjpeg;
  jpeg_error_mgr errors;
  libjpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&libjpeg);
  jpeg_mem_src(&libjpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&libjpeg, TRUE);
  const bool cmyk = libjpeg.num_components == 4;
  libjpeg.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  libjpeg.scale_num = 8 / static_cast<unsigned>(scale);
  libjpeg.scale_denom = 8;
  jpeg_start_decompress(&libjpeg);
  const int64_t width = libjpeg.output_width;
  Tensor image = *Tensor::Allocate(DType::kUInt8, {libjpeg.output_height, width, 3});
  std::vector<uint8_t> row(width * libjpeg.output_components);
  while (libjpeg.output_scanline < libjpeg.output_height) {
    uint8_t* target = image.mutable_raw() + libjpeg.output_scanline * width * 3;
    JSAMPROW rows[] = {row.data()};
    jpeg_read_scanlines(&libjpeg, rows, 1);
    if (cmyk) {
      InvertedCmykToRgbRow(row.data(), width, target);
    } else {
      std::copy(row.begin(), row.end(), target);
    }
  }
  jpeg_finish_decompress(&libjpeg);
  jpeg_destroy_decompress(&libjpeg);
  return image;
}

TEST(Decode, GivesWhatLibjpegRecoversOfADamagedJpeg) {
  const absl::StatusOr<Tensor> image = RunKernel("Decode", {}, Encoded("damaged.jpg"));
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_TRUE(TensorsEqual(*image, ScaledByLibjpeg(fixture::ReadTestFile("damaged.jpg"), 1)));
  EXPECT_GT(fixture::LargestDifference(*image, Golden("baseline_420.jpg.RGB")), 0);
}

fixture::Given Scale(int64_t scale) { return {{"scale", ir::IntValue(scale)}}; }

TEST(Decode, ScalesAsLibjpegDoes) {
  for (const char* name : {"baseline_420.jpg", "baseline_422.jpg", "baseline_444.jpg", "progressive.jpg",
                           "restarts.jpg", "rgb.jpg", "grey.jpg", "cmyk.jpg", "ycck.jpg"}) {
    const Tensor whole = *RunKernel("Decode", {}, Encoded(name));
    for (const int scale : {1, 2, 4, 8}) {
      const Tensor image = *RunKernel("Decode", Scale(scale), Encoded(name));
      EXPECT_EQ(image.dim(0), (whole.dim(0) + scale - 1) / scale) << name;
      EXPECT_EQ(image.dim(1), (whole.dim(1) + scale - 1) / scale) << name;
      EXPECT_TRUE(TensorsEqual(image, ScaledByLibjpeg(fixture::ReadTestFile(name), scale))) << name << " / " << scale;
    }
  }
}

TEST(Decode, CountsWhoDecodedJpegs) {
  WorkCounts counts;
  const WorkCounts::Scope scope(&counts);
  const fixture::Given by_turbo = {{"decoder", ir::StringValue("libjpeg-turbo")}};
  for (const char* name : {"baseline_420.jpg", "grey.jpg", "progressive.jpg", "rgb.png"}) {
    const absl::StatusOr<Tensor> image = RunKernel("Decode", {}, Encoded(name));
    const absl::StatusOr<Tensor> other = RunKernel("Decode", by_turbo, Encoded(name));
    ASSERT_TRUE(image.ok() && other.ok()) << name;
    EXPECT_TRUE(TensorsEqual(*image, *other)) << name;
  }
  EXPECT_FALSE(RunKernel("Decode", {}, *Tensor::CopyBytes(DType::kBytes, "\xFF\xD8\xFF\xD9")).ok());
  const std::vector<WorkCounts::Count> found = counts.counts();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "JPEGs by Headrace's decoder");
  EXPECT_EQ(found[0].number, 2u);
  EXPECT_EQ(found[1].name, "JPEGs by libjpeg-turbo");
  EXPECT_EQ(found[1].number, 4u);
}

TEST(Decode, TurnsWhatItScaled) {
  const Tensor plain = *RunKernel("Decode", Scale(4), Encoded("orientation_6.jpg"));
  const Tensor turned = *RunKernel("Decode", {{"scale", ir::IntValue(4)}, {"orientation", ir::BoolValue(true)}},
                                   Encoded("orientation_6.jpg"));
  ASSERT_EQ(turned.dim(0), plain.dim(1));
  ASSERT_EQ(turned.dim(1), plain.dim(0));
  // Clockwise: the first row becomes the last column.
  for (int64_t x = 0; x < plain.dim(1); ++x) {
    for (int c = 0; c < 3; ++c) {
      ASSERT_EQ(turned.raw()[(x * turned.dim(1) + turned.dim(1) - 1) * 3 + c], plain.raw()[x * 3 + c]);
    }
  }
}

TEST(Decode, ScalesGreyAndLimitsTheImageItself) {
  EXPECT_EQ(
      RunKernel("Decode", {{"scale", ir::IntValue(2)}, {"mode", ir::StringValue("L")}}, Encoded("cmyk.jpg"))->dim(2),
      1);
  const absl::StatusOr<Tensor> limited =
      RunKernel("Decode", {{"scale", ir::IntValue(8)}, {"max_pixels", ir::IntValue(61 * 47 - 1)}}, Encoded("grey.jpg"));
  EXPECT_THAT(MessageOf(limited), HasSubstr("61 × 47"));
}

TEST(Decode, ScalesNothingButJpegAndByEighthsAlone) {
  const absl::StatusOr<Tensor> png = RunKernel("Decode", Scale(2), Encoded("rgb.png"));
  EXPECT_EQ(KindOf(png.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(png), HasSubstr("this is a PNG"));
  EXPECT_TRUE(RunKernel("Decode", Scale(1), Encoded("rgb.png")).ok());
  EXPECT_THAT(MessageOf(RunKernel("Decode", Scale(3), Encoded("grey.jpg"))), HasSubstr("must be 1, 2, 4 or 8"));
  const ir::ColumnType bytes = ir::ColumnType::Of(DType::kBytes, {});
  EXPECT_THAT(MessageOf(fixture::InferType("Decode", Scale(6), {bytes})), HasSubstr("must be 1, 2, 4 or 8"));
}

// Every column and row alone, and with a few neighbours: there libjpeg's ways to leave out the others differ most.
TEST(Decode, GivesNarrowPartsOfTheWhole) {
  int compared = 0;
  for (const char* name : {"baseline_420.jpg", "baseline_422.jpg", "baseline_444.jpg", "progressive.jpg",
                           "restarts.jpg", "rgb.jpg", "grey.jpg", "cmyk.jpg"}) {
    for (const int scale : {1, 2, 4, 8}) {
      const std::unique_ptr<Kernel> kernel = *fixture::MakeKernel("Decode", Scale(scale));
      const auto& decode = dynamic_cast<const DecodeKernel&>(*kernel);
      const Tensor encoded = Encoded(name);
      const Tensor whole = *RunKernel("Decode", Scale(scale), encoded);
      const int64_t height = whole.dim(0), width = whole.dim(1);
      std::vector<Window> parts;
      for (int64_t size = 1; size <= 4; ++size) {
        for (int64_t left = 0; left + size <= width; ++left) parts.push_back({0, left, height, size});
        for (int64_t top = 0; top + size <= height; ++top) parts.push_back({top, 0, size, width});
      }
      for (const Window& part : parts) {
        const auto choose = [&](int64_t, int64_t) -> absl::StatusOr<Window> { return part; };
        ASSERT_TRUE(fixture::IsPartOf(*decode.ApplyPart(encoded, choose), whole, part))
            << name << " / " << scale << ": " << part.height << " × " << part.width << " from row " << part.top
            << ", column " << part.left;
        ++compared;
      }
    }
  }
  std::printf("HEADRACE-COUNT variants=%d\n", compared);
}

TEST(Decode, InfersChannelsFromItsMode) {
  const ir::ColumnType bytes = ir::ColumnType::Of(DType::kBytes, {});
  EXPECT_EQ(ir::TypeName(*fixture::InferType("Decode", {}, {bytes})), "uint8 (None, None, 3)");
  EXPECT_EQ(ir::TypeName(*fixture::InferType("Decode", ModeDecode("L"), {bytes})), "uint8 (None, None, 1)");
  EXPECT_EQ(ir::TypeName(*fixture::InferType("Decode", ModeDecode("unchanged"), {bytes})),
            "unknown (None, None, None)");
  EXPECT_FALSE(fixture::InferType("Decode", {}, {ir::ColumnType::Of(DType::kInt64, {})}).ok());
}

// Changes bytes of real files at random: whatever comes, Decode returns an image or a data error.
TEST(Decode, SurvivesMutatedFiles) {
  const int rounds = Rounds(20000, {.quick = 4000, .sanitized = 4000});
  std::vector<std::string> files;
  for (const char* name :
       {"baseline_420.jpg", "progressive.jpg", "restarts.jpg", "grey.jpg", "cmyk.jpg", "ycck.jpg", "orientation_6.jpg",
        "rgb.png", "rgba.png", "palette_transparent.png", "interlaced.png", "grey_16_bits.png", "orientation_6.png"}) {
    files.push_back(fixture::ReadTestFile(name));
  }
  std::vector<std::unique_ptr<Kernel>> decodes;
  for (const int scale : {1, 1, 2, 4, 8}) {
    decodes.push_back(*fixture::MakeKernel(
        "Decode",
        {{"max_pixels", ir::IntValue(1 << 18)}, {"orientation", ir::BoolValue(true)}, {"scale", ir::IntValue(scale)}}));
  }
  int decoded = 0;
  for (int round = 0; round < rounds; ++round) {
    RowRandom random(11, 0, {.key = static_cast<uint64_t>(round)});
    std::string bytes = files[random.Below(files.size())];
    for (uint64_t left = 1 + random.Below(8); left > 0; --left) {
      // Half of the changes fall on headers.
      const uint64_t reach = random.Below(2) == 0 ? std::min<uint64_t>(bytes.size(), 700) : bytes.size();
      bytes[random.Below(reach)] = static_cast<char>(random.Below(256));
    }
    if (random.Below(4) == 0) bytes.resize(1 + random.Below(bytes.size()));
    OutputAllocator output;
    KernelContext context(random, output);
    const auto images = decodes[random.Below(decodes.size())]->Apply(
        std::vector<Tensor>{*Tensor::CopyBytes(DType::kBytes, bytes)}, context);
    decoded += images.ok();
    ASSERT_TRUE(images.ok() || KindOf(images.status()) == ErrorKind::kData) << images.status();
  }
  EXPECT_GT(decoded, 0);
  EXPECT_LT(decoded, rounds);
  std::printf("HEADRACE-COUNT fuzz=%d\n", rounds);
}

}  // namespace
}  // namespace headrace
