// What headers say, and which are left to libjpeg.
#include "kernels/vision/codecs/jpeg/own/sequential_jpeg.h"

#include <string>
#include <string_view>

#include "core/philox.h"
#include "core/text.h"
#include "gtest/gtest.h"
#include "kernels/testing/jpeg_writer.h"

namespace headrace::jpeg {
namespace {

using fixture::JpegSpec;

std::string Written(const JpegSpec& spec) {
  RowRandom random(61, 0, {.key = 1});
  return fixture::WriteJpeg(spec, random);
}

TEST(SequentialJpeg, SaysSizesAndSampling) {
  const std::string bytes = Written({.width = 37, .height = 21, .components = {{2, 2}, {1, 1}, {1, 2}}, .restart = 5});
  const auto jpeg = FindSequentialJpeg(bytes);
  ASSERT_TRUE(jpeg.has_value());
  EXPECT_EQ(jpeg->width, 37);
  EXPECT_EQ(jpeg->height, 21);
  EXPECT_EQ(jpeg->count, 3);
  EXPECT_EQ(jpeg->interval, 5);
  EXPECT_EQ(jpeg->mcus_per_row(), 3);
  EXPECT_EQ(jpeg->mcu_rows(), 2);
  EXPECT_EQ(jpeg->components[1].width, 19);
  EXPECT_EQ(jpeg->components[1].height, 11);
  EXPECT_EQ(jpeg->components[2].height, 21);
  EXPECT_EQ(jpeg->blocks(), 5 * 3 + 3 * 2 + 3 * 3);
  EXPECT_TRUE(jpeg->HasEndMarker());
  EXPECT_FALSE(FindSequentialJpeg(bytes.substr(0, bytes.size() - 2))->HasEndMarker());
}

// The factors of one component alone mean nothing.
TEST(SequentialJpeg, TakesOneComponentForWhatItIs) {
  const std::string bytes = Written({.width = 37, .height = 21, .components = {{2, 2}}});
  const auto jpeg = FindSequentialJpeg(bytes);
  ASSERT_TRUE(jpeg.has_value());
  EXPECT_EQ(jpeg->mcus_per_row(), 5);
  EXPECT_EQ(jpeg->components[0].width, 37);
}

TEST(SequentialJpeg, LeavesOtherKindsToLibjpeg) {
  const JpegSpec plain{.components = {{2, 1}, {}, {}}};
  const std::string good = Written(plain);
  ASSERT_TRUE(FindSequentialJpeg(good).has_value());
  JpegSpec progressive = plain;
  progressive.scans = fixture::ProgressiveScans(3);
  EXPECT_FALSE(FindSequentialJpeg(Written(progressive)).has_value());
  JpegSpec apart = plain;
  apart.scans = fixture::ScansApart(3);
  EXPECT_FALSE(FindSequentialJpeg(Written(apart)).has_value());
  JpegSpec arithmetic = plain;
  arithmetic.arithmetic = true;
  EXPECT_FALSE(FindSequentialJpeg(Written(arithmetic)).has_value());
  EXPECT_FALSE(FindSequentialJpeg(Written({.components = {{}, {}, {}, {}}})).has_value());
  std::string fractional = good;
  fractional[good.find("\xFF\xC0") + 11] = 0x31;
  fractional[good.find("\xFF\xC0") + 14] = 0x21;
  EXPECT_FALSE(FindSequentialJpeg(fractional).has_value());
  EXPECT_FALSE(FindSequentialJpeg("").has_value());
  for (size_t size = 0; size < fixture::ScanStarts(good)[0] + 10; ++size) {
    EXPECT_FALSE(FindSequentialJpeg(good.substr(0, size)).has_value()) << size;
  }
  std::string twelve_bits = good;
  twelve_bits[good.find("\xFF\xC0") + 4] = 12;
  EXPECT_FALSE(FindSequentialJpeg(twelve_bits).has_value());
  std::string stray = good;
  stray.insert(good.find("\xFF\xC0"), 1, 'x');
  EXPECT_FALSE(FindSequentialJpeg(stray).has_value());
}

TEST(SequentialJpeg, FindsColorsAsLibjpegDoes) {
  std::string bytes = Written({.components = {{}, {}, {}}});
  const size_t frame = bytes.find("\xFF\xC0") + 10;
  const size_t scan = fixture::ScanStarts(bytes)[0] + 5;
  constexpr char kNames[] = "RGB";
  for (size_t i = 0; i < 3; ++i) bytes[frame + 3 * i] = bytes[scan + 2 * i] = kNames[i];
  // Unless JFIF says YCbCr.
  const bool jfif = bytes.find("JFIF") != std::string::npos;
  EXPECT_EQ(FindSequentialJpeg(bytes).has_value(), jfif);
  if (jfif) bytes[bytes.find("JFIF")] = 'X';
  EXPECT_FALSE(FindSequentialJpeg(bytes).has_value());
  const std::string adobe(
      "\xFF\xEE\x00\x0E"
      "Adobe\x00\x64\x00\x00\x00\x00\x01",
      16);
  EXPECT_TRUE(FindSequentialJpeg("\xFF\xD8" + adobe + bytes.substr(2)).has_value());
}

TEST(SequentialJpeg, ReadsTheOrientationOfTheFirstExif) {
  const std::string bytes = Written({});
  const std::string turned = fixture::WithOrientation(bytes, 6);
  const auto jpeg = FindSequentialJpeg(turned);
  ASSERT_TRUE(jpeg.has_value());
  EXPECT_EQ(jpeg->orientation, 6);
  EXPECT_EQ(FindSequentialJpeg(bytes)->orientation, 1);
}

}  // namespace
}  // namespace headrace::jpeg
