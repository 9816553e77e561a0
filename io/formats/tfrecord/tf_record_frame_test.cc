#include "io/formats/tfrecord/tf_record_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

const uint8_t* BytesOfFrame(const std::string& frame) { return reinterpret_cast<const uint8_t*>(frame.data()); }

// The first frame of a file that TensorFlow wrote.
std::string FirstFrameOfTensorFlow() {
  std::ifstream file("io/formats/tfrecord/testdata/examples.tfrecord", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(bytes.size(), 985u);
  return bytes.substr(0, 151);
}

TEST(TfRecordFrame, IsWrittenAsTensorFlowWritesIt) {
  const std::string frame = FirstFrameOfTensorFlow();
  ASSERT_EQ(TfPayloadLength(BytesOfFrame(frame)), 135u);
  const std::string payload = frame.substr(TfRecordFrame::kHeadBytes, 135);
  std::string written;
  ASSERT_TRUE(AppendTfRecord({payload}, written).ok());
  EXPECT_EQ(written, frame);
  std::string in_pieces;
  const std::string_view all = payload;
  ASSERT_TRUE(AppendTfRecord({all.substr(0, 1), "", all.substr(1, 70), all.substr(71)}, in_pieces).ok());
  EXPECT_EQ(in_pieces, frame);
}

// Of the crc32c of no bytes, which is 0.
TEST(TfRecordFrame, MasksTheChecksum) { EXPECT_EQ(MaskedCrc32c("", 0), 0xa282ead8u); }

TEST(TfRecordFrame, OfNothingHasSixteenBytes) {
  std::string frame;
  ASSERT_TRUE(AppendTfRecord({}, frame).ok());
  EXPECT_EQ(frame.size(), TfRecordFrame::kAroundBytes);
  EXPECT_EQ(TfPayloadLength(BytesOfFrame(frame)), 0u);
  EXPECT_TRUE(CheckTfPayload(std::string_view(frame).substr(TfRecordFrame::kHeadBytes, 0)).ok());
}

TEST(TfRecordFrame, ShowsEachChangedBit) {
  std::string frame;
  ASSERT_TRUE(AppendTfRecord({"seven b"}, frame).ok());
  for (size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    std::string changed = frame;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const bool in_head = bit < 8 * TfRecordFrame::kHeadBytes;
    EXPECT_EQ(TfPayloadLength(BytesOfFrame(changed)).has_value(), !in_head) << bit;
    const absl::Status checked = CheckTfPayload(std::string_view(changed).substr(TfRecordFrame::kHeadBytes, 7));
    EXPECT_EQ(checked.ok(), in_head) << bit;
    if (checked.ok()) continue;
    EXPECT_EQ(KindOf(checked), ErrorKind::kData);
    EXPECT_THAT(ToStd(checked.message()), HasSubstr("not that of its 7 bytes"));
  }
}

}  // namespace
}  // namespace headrace
