// Which JPEGs are plain, by their kinds, and that no part of one may be missing.
#include "kernels/vision/codecs/jpeg/plain_jpeg.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/jpeg_writer.h"

namespace headrace {
namespace {

using fixture::JpegSampling;
using fixture::JpegScan;
using fixture::JpegSpec;

constexpr std::string_view kEndMarker = "\xFF\xD9";

std::string Write(const JpegSpec& spec) {
  RowRandom random(11, 0, {.key = 3});
  return fixture::WriteJpeg(spec, random);
}
JpegSpec Colour(JpegSampling luma = {2, 2}) {
  return {.width = 45, .height = 37, .components = {luma, {1, 1}, {1, 1}}};
}

bool IsPlain(std::string_view bytes) { return FindPlainJpeg(bytes).has_value(); }

// The offset of the first such segment.
size_t SegmentAt(std::string_view jpeg, char marker) {
  size_t at = 2;
  while (at + 4 < jpeg.size() && jpeg[at + 1] != marker) {
    at += 2 + static_cast<uint8_t>(jpeg[at + 2]) * size_t{256} + static_cast<uint8_t>(jpeg[at + 3]);
  }
  return at;
}
size_t SizeOfSegment(std::string_view jpeg, size_t at) {
  return 2 + static_cast<uint8_t>(jpeg[at + 2]) * size_t{256} + static_cast<uint8_t>(jpeg[at + 3]);
}
std::string Without(std::string jpeg, char marker) {
  const size_t at = SegmentAt(jpeg, marker);
  return jpeg.erase(at, SizeOfSegment(jpeg, at));
}
std::string WithSize(std::string jpeg, int height, int width) {
  const size_t frame = SegmentAt(jpeg, '\xC0');
  for (const auto& [offset, value] : {std::pair(5, height), std::pair(7, width)}) {
    jpeg[frame + offset] = static_cast<char>(value / 256);
    jpeg[frame + offset + 1] = static_cast<char>(value % 256);
  }
  return jpeg;
}
std::string WithAdobe(std::string jpeg, char transform) {
  const std::string segment = std::string("\xFF\xEE\x00\x0E", 4) + "Adobe" + std::string(6, '\0') + transform;
  return jpeg.insert(2, segment);
}
std::string WithIds(std::string jpeg, std::string_view ids) {
  const size_t frame = SegmentAt(jpeg, '\xC0');
  const size_t scan = SegmentAt(jpeg, '\xDA');
  for (size_t i = 0; i < ids.size(); ++i) {
    jpeg[frame + 10 + 3 * i] = ids[i];
    jpeg[scan + 5 + 2 * i] = ids[i];
  }
  return jpeg;
}

TEST(PlainJpeg, SaysWhatTheImageIs) {
  const std::string jpeg = Write(Colour());
  const std::string longer = jpeg + "what follows";
  const std::optional<PlainJpeg> plain = FindPlainJpeg(longer);
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->bytes, jpeg);
  EXPECT_EQ(plain->height, 37);
  EXPECT_EQ(plain->width, 45);
  EXPECT_EQ(plain->components, 3);
  const std::string grey = Write({.width = 9, .height = 1});
  EXPECT_EQ(FindPlainJpeg(grey)->components, 1);
}

TEST(PlainJpeg, IsSampledAsIsCommon) {
  int plain = 0;
  for (const std::vector<JpegSampling>& sampling : fixture::JpegSamplings()) {
    JpegSpec spec{.width = 45, .height = 37, .components = sampling};
    if (!fixture::FitsOneScan(spec)) spec.scans = fixture::ScansApart(sampling.size());
    const auto is = [&](size_t i, int horizontal, int vertical) {
      return sampling[i].horizontal == horizontal && sampling[i].vertical == vertical;
    };
    bool common = sampling.size() == 1 && is(0, 1, 1);
    if (sampling.size() == 3 && is(1, 1, 1) && is(2, 1, 1)) {
      common = is(0, 1, 1) || is(0, 2, 1) || is(0, 2, 2) || is(0, 1, 2) || is(0, 4, 1) || is(0, 4, 2);
    }
    EXPECT_EQ(IsPlain(Write(spec)), common);
    plain += common ? 1 : 0;
  }
  EXPECT_EQ(plain, 7);
}

TEST(PlainJpeg, OfTheTestFiles) {
  for (const char* name : {"baseline_420.jpg", "baseline_422.jpg", "baseline_444.jpg", "progressive.jpg",
                           "restarts.jpg", "grey.jpg", "orientation_6.jpg", "encode.95.jpg"}) {
    EXPECT_TRUE(IsPlain(fixture::ReadTestFile(name))) << name;
  }
  for (const char* name : {"rgb.jpg", "cmyk.jpg", "ycck.jpg", "rgb.png"}) {
    EXPECT_FALSE(IsPlain(fixture::ReadTestFile(name))) << name;
  }
}

TEST(PlainJpeg, HasOneScanOrAllProgressiveOnes) {
  JpegSpec spec = Colour();
  const std::string sequential = Write(spec);
  const std::vector<size_t> starts = fixture::ScanStarts(sequential);
  EXPECT_TRUE(IsPlain(sequential));
  EXPECT_FALSE(IsPlain(sequential.substr(0, starts[1]) + sequential.substr(starts[0])));
  spec.scans = fixture::ScansApart(3);
  EXPECT_FALSE(IsPlain(Write(spec)));
  spec.scans = fixture::ProgressiveScans(3);
  const std::string whole = Write(spec);
  EXPECT_TRUE(IsPlain(whole));
  for (size_t scans = 0; scans < spec.scans.size(); ++scans) {
    EXPECT_FALSE(IsPlain(fixture::FirstScans(whole, scans))) << scans;
  }
}

// One component whose coefficients come bit by bit.
std::vector<JpegScan> BitByBit(int mean_bits, int other_bits) {
  std::vector<JpegScan> scans;
  for (int low = mean_bits; low >= 0; --low) scans.push_back({{0}, 0, 0, low < mean_bits ? low + 1 : 0, low});
  for (int low = other_bits; low >= 0; --low) scans.push_back({{0}, 1, 63, low < other_bits ? low + 1 : 0, low});
  return scans;
}

TEST(PlainJpeg, HasFewScans) {
  EXPECT_TRUE(IsPlain(Write({.width = 20, .height = 20, .scans = BitByBit(6, 7)})));
  EXPECT_FALSE(IsPlain(Write({.width = 20, .height = 20, .scans = BitByBit(7, 7)})));
}

// A refinement of what was not sent, in a file that libjpeg would not write.
TEST(PlainJpeg, HasScansThatFollowEachOther) {
  const std::string jpeg = Write({.width = 20, .height = 20, .scans = BitByBit(1, 1)});
  const std::vector<size_t> starts = fixture::ScanStarts(jpeg);
  std::string swapped = jpeg.substr(0, starts[2]) + jpeg.substr(starts[3], starts[4] - starts[3]) +
                        jpeg.substr(starts[2], starts[3] - starts[2]) + jpeg.substr(starts[4]);
  EXPECT_TRUE(IsPlain(jpeg));
  EXPECT_FALSE(IsPlain(swapped));
  // Again what was sent.
  EXPECT_FALSE(IsPlain(jpeg.substr(0, starts[1]) + jpeg.substr(starts[0])));
}

TEST(PlainJpeg, HasMeansBeforeOtherCoefficients) {
  const std::string jpeg = Write({.width = 20, .height = 20, .scans = BitByBit(0, 0)});
  const std::vector<size_t> starts = fixture::ScanStarts(jpeg);
  // With its tables.
  const size_t second = jpeg.rfind("\xFF\xC4", starts[1]);
  const std::string head = jpeg.substr(0, starts[0]);
  const std::string means = jpeg.substr(starts[0], second - starts[0]);
  const std::string others = jpeg.substr(second, starts[2] - second);
  EXPECT_TRUE(IsPlain(head + means + others + std::string(kEndMarker)));
  EXPECT_FALSE(IsPlain(head + others + means + std::string(kEndMarker)));
}

TEST(PlainJpeg, RefinesBitByBit) {
  std::string jpeg = Write({.width = 20, .height = 20, .scans = BitByBit(2, 0)});
  const std::vector<size_t> starts = fixture::ScanStarts(jpeg);
  jpeg.erase(starts[2], jpeg.rfind("\xFF\xC4", starts[3]) - starts[2]);
  // The header's byte of missing bits, before and after.
  char& bits = jpeg[starts[1] + 9];
  ASSERT_EQ(bits, 0x21);
  bits = 0x20;
  EXPECT_FALSE(IsPlain(jpeg));
}

TEST(PlainJpeg, HasComponentsInTheFramesOrder) {
  std::string jpeg = Write(Colour());
  const size_t scan = SegmentAt(jpeg, '\xDA');
  std::swap(jpeg[scan + 7], jpeg[scan + 9]);
  EXPECT_FALSE(IsPlain(jpeg));
  jpeg[scan + 7] = jpeg[scan + 9];
  EXPECT_FALSE(IsPlain(jpeg));
}

TEST(PlainJpeg, IsWhole) {
  for (JpegSpec spec : {Colour(), Colour({1, 1})}) {
    spec.restart = 3;
    for (const bool progressive : {false, true}) {
      if (progressive) spec.scans = fixture::ProgressiveScans(3);
      const std::string jpeg = Write(spec);
      ASSERT_TRUE(IsPlain(jpeg));
      for (size_t size = 0; size < jpeg.size(); ++size) ASSERT_FALSE(IsPlain(jpeg.substr(0, size))) << size;
      for (size_t size = 0; size < fixture::ScanStarts(jpeg)[0]; ++size) {
        ASSERT_FALSE(IsPlain(jpeg.substr(0, size) + std::string(kEndMarker))) << size;
      }
    }
  }
}

TEST(PlainJpeg, HasTheRestartMarkersThatItsHeaderAnnounces) {
  JpegSpec spec = Colour();
  spec.restart = 2;
  const std::string jpeg = Write(spec);
  ASSERT_TRUE(IsPlain(jpeg));
  const size_t first = jpeg.find("\xFF\xD0");
  const size_t second = jpeg.find("\xFF\xD1");
  ASSERT_NE(second, std::string::npos);
  std::string changed = jpeg;
  changed.erase(first, 2);
  EXPECT_FALSE(IsPlain(changed));
  changed = jpeg;
  changed.erase(first, second - first);
  EXPECT_FALSE(IsPlain(changed));
  changed = jpeg;
  std::swap(changed[first + 1], changed[second + 1]);
  EXPECT_FALSE(IsPlain(changed));
  EXPECT_FALSE(IsPlain(Without(jpeg, '\xDD')));
  // The last one is missing, with what follows it.
  const size_t last = jpeg.rfind("\xFF\xD0");
  EXPECT_FALSE(IsPlain(jpeg.substr(0, last) + std::string(kEndMarker)));
}

TEST(PlainJpeg, HasItsTables) {
  const std::string jpeg = Write(Colour());
  ASSERT_TRUE(IsPlain(jpeg));
  int tables = 0;
  for (const std::string_view marker : {"\xFF\xC4", "\xFF\xDB", "\xFF\xC0"}) {
    for (size_t at = jpeg.find(marker); at != std::string::npos; at = jpeg.find(marker, at + 2)) {
      std::string without = jpeg;
      EXPECT_FALSE(IsPlain(without.erase(at, SizeOfSegment(jpeg, at)))) << at;
      ++tables;
    }
  }
  // Two for means, two for other coefficients, two of quantization; and the frame.
  EXPECT_EQ(tables, 7);
  std::string twice = jpeg;
  const size_t frame = SegmentAt(jpeg, '\xC0');
  twice.insert(frame, jpeg.substr(frame, SizeOfSegment(jpeg, frame)));
  EXPECT_FALSE(IsPlain(twice));
}

TEST(PlainJpeg, IsGreyOrYCbCr) {
  const std::string jpeg = Write(Colour({1, 1}));
  EXPECT_TRUE(IsPlain(WithAdobe(jpeg, 1)));
  EXPECT_FALSE(IsPlain(WithAdobe(jpeg, 0)));
  EXPECT_FALSE(IsPlain(WithAdobe(jpeg, 2)));
  EXPECT_TRUE(IsPlain(WithAdobe(Write({}), 0)));
  EXPECT_TRUE(IsPlain(WithIds(jpeg, std::string_view("\0\1\2", 3))));
  EXPECT_FALSE(IsPlain(WithIds(jpeg, "RGB")));
}

TEST(PlainJpeg, HasACommonFrame) {
  const std::string jpeg = Write(Colour());
  const size_t frame = SegmentAt(jpeg, '\xC0');
  for (int marker = 0xC0; marker <= 0xCF; ++marker) {
    std::string changed = jpeg;
    changed[frame + 1] = static_cast<char>(marker);
    // Scans of a progressive frame have other headers.
    EXPECT_EQ(IsPlain(changed), marker == 0xC0 || marker == 0xC1) << marker;
  }
  std::string deep = jpeg;
  deep[frame + 4] = 12;
  EXPECT_FALSE(IsPlain(deep));
  JpegSpec arithmetic = Colour();
  arithmetic.arithmetic = true;
  EXPECT_FALSE(IsPlain(Write(arithmetic)));
}

TEST(PlainJpeg, IsNotTooLarge) {
  const std::string jpeg = Write(Colour());
  EXPECT_TRUE(IsPlain(WithSize(jpeg, 8192, 8192)));
  EXPECT_FALSE(IsPlain(WithSize(jpeg, 8193, 8192)));
  EXPECT_TRUE(IsPlain(WithSize(jpeg, 65535, 1024)));
  EXPECT_FALSE(IsPlain(WithSize(jpeg, 0, 45)));
  EXPECT_FALSE(IsPlain(WithSize(jpeg, 37, 0)));
}

TEST(PlainJpeg, HasNothingBetweenSegments) {
  const std::string jpeg = Write(Colour());
  for (const char marker : {'\xDB', '\xC0', '\xC4', '\xDA'}) {
    std::string changed = jpeg;
    EXPECT_TRUE(IsPlain(changed.insert(SegmentAt(jpeg, marker), std::string("\xFF\xFE\x00\x05 hi", 7))));
    for (const std::string_view bytes : {"\x01", "\xFF"}) {
      changed = jpeg;
      EXPECT_FALSE(IsPlain(changed.insert(SegmentAt(jpeg, marker), bytes))) << static_cast<int>(marker);
    }
  }
}

// No bytes make it read beyond the end.
TEST(PlainJpeg, TakesAnyBytes) {
  RowRandom random(12, 0, {.key = 1});
  int plain = 0;
  for (int round = 0; round < 20000; ++round) {
    const JpegSpec spec = fixture::AnyJpegSpec(random);
    std::string jpeg = round % 20 == 0 ? fixture::WriteJpeg(spec, random) : fixture::ReadTestFile("progressive.jpg");
    fixture::DamageJpeg(random, jpeg);
    const std::string exact(jpeg);
    plain += IsPlain(std::string_view(exact.data(), exact.size())) ? 1 : 0;
  }
  EXPECT_GT(plain, 100);
}

}  // namespace
}  // namespace headrace
