// What follows markers, and where it ends.
#include "kernels/vision/codecs/jpeg/own/marker_reader.h"

#include <string>
#include <string_view>

#include "core/text.h"
#include "gtest/gtest.h"

namespace headrace::jpeg {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kFrame = "\x08\x00\x15\x00\x25\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01"sv;
constexpr std::string_view kScanOfThree = "\x03\x01\x00\x02\x11\x03\x12\x00\x3F\x00"sv;

TEST(MarkerReader, ReadsSegments) {
  MarkerReader reader("\xFF\xD8\xFF\xFE\x00\x04hi\xFF\xE0\x00\x02\xFF\xD9"sv);
  EXPECT_EQ(reader.NextMarker(), kBegin);
  EXPECT_EQ(reader.NextMarker(), kComment);
  EXPECT_EQ(reader.NextSegment()->rest(), "hi");
  EXPECT_EQ(reader.NextMarker(), kFirstApplication);
  EXPECT_TRUE(reader.NextSegment()->empty());
  EXPECT_EQ(reader.NextMarker(), kEnd);
  EXPECT_EQ(reader.at(), reader.bytes().size());
  EXPECT_EQ(reader.NextMarker(), std::nullopt);
  EXPECT_FALSE(reader.NextSegment().has_value());
}

TEST(MarkerReader, TakesNothingBetweenSegments) {
  EXPECT_EQ(MarkerReader("x\xFF\xD8"sv).NextMarker(), std::nullopt);
  EXPECT_EQ(MarkerReader("\xFF"sv).NextMarker(), std::nullopt);
}

TEST(MarkerReader, RefusesLengthsThatCannotBe) {
  for (const std::string_view bytes : {""sv, "\x00"sv, "\x00\x00"sv, "\x00\x01"sv, "\x00\x05hi"sv}) {
    EXPECT_FALSE(MarkerReader(bytes).NextSegment().has_value()) << bytes.size();
  }
  EXPECT_EQ(MarkerReader("\x00\x04hi"sv).NextSegment()->rest(), "hi");
}

TEST(MarkerReader, PassesData) {
  MarkerReader reader("ab\xFF\x00\xFF\xD0zz\xFF\xD1\xFF\xD9"sv);
  EXPECT_EQ(reader.PassData(), 2);
  EXPECT_EQ(reader.NextMarker(), kEnd);
  EXPECT_EQ(MarkerReader("ab\xFF\xD1\xFF\xD9"sv).PassData(), std::nullopt);
  EXPECT_EQ(MarkerReader("ab\xFF\xD0\xFF\xD0\xFF\xD9"sv).PassData(), std::nullopt);
  EXPECT_EQ(MarkerReader("ab"sv).PassData(), std::nullopt);
  EXPECT_EQ(MarkerReader("ab\xFF"sv).PassData(), std::nullopt);
  EXPECT_EQ(MarkerReader("ab\xFF\x00"sv).PassData(), std::nullopt);
}

TEST(MarkerReader, CountsRestartMarkersBeyondTheirEight) {
  std::string data;
  for (int i = 0; i < 19; ++i) data += {'\xFF', static_cast<char>(kFirstRestart + i % 8)};
  EXPECT_EQ(MarkerReader(data + "\xFF\xD9").PassData(), 19);
}

TEST(Segment, RemembersReadsBeyondItsEnd) {
  Segment segment("\x01\x02\x03"sv);
  EXPECT_EQ(segment.Word(), 0x0102);
  EXPECT_FALSE(segment.EndsHere());
  EXPECT_EQ(segment.Byte(), 3);
  EXPECT_TRUE(segment.EndsHere());
  EXPECT_EQ(segment.Byte(), 0);
  EXPECT_FALSE(segment.EndsHere());
  Segment other("abc"sv);
  other.Skip(2);
  EXPECT_EQ(other.rest(), "c");
  other.Skip(2);
  EXPECT_TRUE(other.empty());
  EXPECT_FALSE(other.EndsHere());
}

TEST(FrameHeader, SaysSizesAndComponents) {
  const auto frame = ReadFrameHeader(Segment(kFrame));
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->height, 21);
  EXPECT_EQ(frame->width, 37);
  EXPECT_EQ(frame->count, 3);
  EXPECT_EQ(frame->components[0].horizontal, 2);
  EXPECT_EQ(frame->components[0].vertical, 2);
  EXPECT_EQ(frame->components[2].quantization, 1);
  EXPECT_EQ(frame->IndexOf(3), 2);
  EXPECT_EQ(frame->IndexOf(4), -1);
  EXPECT_FALSE(frame->HasColoursAsIds());
}

TEST(FrameHeader, IsOfOneOrThreeComponents) {
  for (int count = 0; count < 256; ++count) {
    std::string bytes(kFrame.substr(0, 6));
    bytes[5] = static_cast<char>(count);
    bytes.resize(bytes.size() + static_cast<size_t>(count) * 3, '\x11');
    EXPECT_EQ(ReadFrameHeader(Segment(bytes)).has_value(), count == 1 || count == 3) << count;
  }
}

TEST(FrameHeader, EndsWithItsSegment) {
  const std::string longer = Cat(kFrame, "x");
  EXPECT_FALSE(ReadFrameHeader(Segment(longer)).has_value());
  for (size_t size = 0; size < kFrame.size(); ++size) {
    EXPECT_FALSE(ReadFrameHeader(Segment(kFrame.substr(0, size))).has_value()) << size;
  }
}

TEST(ScanHeader, SaysTablesAndCoefficients) {
  const auto scan = ReadScanHeader(Segment(kScanOfThree));
  ASSERT_TRUE(scan.has_value());
  EXPECT_EQ(scan->count, 3);
  EXPECT_EQ(scan->ids[1], 2);
  EXPECT_EQ(scan->means[2], 1);
  EXPECT_EQ(scan->others[2], 2);
  EXPECT_TRUE(scan->IsSequential());
  std::string refining(kScanOfThree);
  refining.back() = '\x21';
  EXPECT_EQ(ReadScanHeader(Segment(refining))->high, 2);
  EXPECT_EQ(ReadScanHeader(Segment(refining))->low, 1);
  EXPECT_FALSE(ReadScanHeader(Segment(refining))->IsSequential());
}

TEST(ScanHeader, IsOfAtMostThreeComponents) {
  for (int count = 0; count < 256; ++count) {
    std::string bytes(1, static_cast<char>(count));
    bytes.resize(bytes.size() + static_cast<size_t>(count) * 2 + 3, '\x00');
    EXPECT_EQ(ReadScanHeader(Segment(bytes)).has_value(), count >= 1 && count <= 3) << count;
  }
  for (size_t size = 0; size < kScanOfThree.size(); ++size) {
    EXPECT_FALSE(ReadScanHeader(Segment(kScanOfThree.substr(0, size))).has_value()) << size;
  }
}

}  // namespace
}  // namespace headrace::jpeg
