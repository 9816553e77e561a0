#include "io/formats/recordio/image_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Payload(const ImageRecordHeader& header, const std::vector<float>& labels, std::string_view image) {
  std::string payload;
  AppendImageRecordHeader(header, labels, payload);
  payload += image;
  return payload;
}

std::vector<float> LabelsOf(const ImageRecord& record) {
  std::vector<float> labels(record.labels());
  record.CopyLabels(labels.data());
  for (size_t i = 0; i < labels.size(); ++i) EXPECT_EQ(record.label(i), labels[i]);
  return labels;
}

TEST(ImageRecord, HasOneLabelInItsHeader) {
  const std::string payload = Payload({0, 3.5F, 7, 9}, {}, "jpeg");
  // struct.pack("<IfQQ", 0, 3.5, 7, 9)
  EXPECT_EQ(payload, std::string("\0\0\0\0\0\0\x60\x40\7\0\0\0\0\0\0\0\x9\0\0\0\0\0\0\0jpeg", 28));
  const auto record = ParseImageRecord(payload);
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record->header.id, 7u);
  EXPECT_EQ(record->header.id2, 9u);
  EXPECT_THAT(LabelsOf(*record), ElementsAre(3.5F));
  EXPECT_EQ(record->image, "jpeg");
}

// Python's packer leaves 0 in the header, the C++ one the first label.
TEST(ImageRecord, HasItsLabelsBehindTheHeader) {
  for (const float in_header : {0.0F, 1.0F}) {
    const std::string payload = "x" + Payload({3, in_header, 1, 0}, {1, 2, 3}, "jpeg");
    const auto record = ParseImageRecord(std::string_view(payload).substr(1));
    ASSERT_TRUE(record.ok());
    EXPECT_THAT(LabelsOf(*record), ElementsAre(1, 2, 3));
    EXPECT_EQ(record->image, "jpeg");
    EXPECT_EQ(record->header.label, in_header);
  }
  const std::string one = Payload({1, 0, 1, 0}, {5}, "");
  EXPECT_THAT(LabelsOf(*ParseImageRecord(one)), ElementsAre(5));
}

TEST(ImageRecord, KeepsIdsThatNoFloatHolds) {
  const uint64_t id = (uint64_t{1} << 24) + 1;
  const std::string payload = Payload({0, 0, id, ~uint64_t{0}}, {}, "");
  EXPECT_EQ(ParseImageRecord(payload)->header.id, id);
  EXPECT_EQ(ParseImageRecord(payload)->header.id2, ~uint64_t{0});
}

TEST(ImageRecord, RefusesAPayloadThatIsTooShort) {
  const absl::Status short_header = ParseImageRecord(std::string(23, 'x')).status();
  EXPECT_EQ(KindOf(short_header), ErrorKind::kData);
  EXPECT_THAT(std::string(ToStd(short_header.message())), HasSubstr("a header of 24 bytes, and this record has 23"));
  const absl::Status short_labels = ParseImageRecord(Payload({~0u, 0, 0, 0}, {1, 2}, "")).status();
  EXPECT_EQ(KindOf(short_labels), ErrorKind::kData);
  EXPECT_THAT(std::string(ToStd(short_labels.message())), HasSubstr("claims 4294967295 labels, and 8 bytes"));
}

TEST(ImageRecord, KnowsTheHeaderOfAFaceRecognitionSet) {
  const std::string header = Payload({2, 0, 0, 0}, {5'822'654, 5'908'396}, "");
  const auto found = FaceSetHeaderOf(*ParseImageRecord(header));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->identities_begin, 5'822'654u);
  EXPECT_EQ(found->identities_end, 5'908'396u);
  EXPECT_EQ(found->slack, 0u);
  // 42,474,557 images: float32 has multiples of 4 there.
  const std::string large = Payload({2, 0, 0, 0}, {42'474'558.0F, 44'533'946.0F}, "");
  const auto rounded = FaceSetHeaderOf(*ParseImageRecord(large));
  ASSERT_TRUE(rounded.has_value());
  EXPECT_EQ(rounded->slack, 2u);
  EXPECT_LE(rounded->identities_begin - rounded->slack, 42'474'558u);
  EXPECT_GE(rounded->identities_begin + rounded->slack, 42'474'558u);
}

TEST(ImageRecord, TakesNoImageForTheHeaderOfAFaceRecognitionSet) {
  const auto is_header = [](const std::string& payload) {
    return FaceSetHeaderOf(*ParseImageRecord(payload)).has_value();
  };
  EXPECT_FALSE(is_header(Payload({2, 0, 0, 0}, {5, 9}, "jpeg")));
  EXPECT_FALSE(is_header(Payload({0, 5, 0, 0}, {}, "")));
  EXPECT_FALSE(is_header(Payload({3, 0, 0, 0}, {5, 9, 9}, "")));
  EXPECT_FALSE(is_header(Payload({2, 0, 0, 0}, {9, 5}, "")));
  EXPECT_FALSE(is_header(Payload({2, 0, 0, 0}, {0.5F, 5}, "")));
  EXPECT_FALSE(is_header(Payload({2, 0, 0, 0}, {0, 5}, "")));
  EXPECT_FALSE(is_header(Payload({2, 0, 0, 0}, {1e30F, 1e30F}, "")));
  EXPECT_TRUE(IsFaceIdentity(*ParseImageRecord(Payload({2, 0, 6, 0}, {1, 4}, ""))));
  EXPECT_FALSE(IsFaceIdentity(*ParseImageRecord(Payload({2, 0, 6, 0}, {1, 4}, "jpeg"))));
}

}  // namespace
}  // namespace headrace
