#include "io/formats/recordio/image_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ImageList Parse(std::string_view text) {
  absl::StatusOr<ImageList> list = ParseImageList(text, "a.lst");
  EXPECT_TRUE(list.ok()) << list.status();
  return *std::move(list);
}

std::string WrongWithImageList(std::string_view text) {
  const absl::Status status = ParseImageList(text, "a.lst").status();
  EXPECT_EQ(KindOf(status), ErrorKind::kData);
  return std::string(ToStd(status.message()));
}

std::string Formatted(const ImageList& list, LabelText label_text) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) {
    AppendImageListLine(list.index(i), list.labels(i), list.path(i), label_text, text);
  }
  return text;
}

TEST(ImageList, ReadsOneLabelAsBothVersionsOfMxnetWriteIt) {
  const ImageList list = Parse("0\t0.000000\tn01/a b.JPEG\n16777217\t1\tn02/b.JPEG\n2\t2.5\tc.png");
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list.index(1), 16'777'217u);
  EXPECT_THAT(list.labels(0), ElementsAre(0.0F));
  EXPECT_THAT(list.labels(2), ElementsAre(2.5F));
  EXPECT_EQ(list.path(0), "n01/a b.JPEG");
  EXPECT_EQ(list.path(2), "c.png");
}

TEST(ImageList, LeavesOutAByteOrderMark) {
  const ImageList list = Parse(
      "\xEF\xBB\xBF"
      "5\t1\ta.png\n");
  EXPECT_EQ(list.index(0), 5u);
  EXPECT_EQ(list.path(0), "a.png");
}

TEST(ImageList, RoundsNoClass) {
  for (const char* label : {"16777217", "-16777217", "16777217.000000", "18446744073709551617"}) {
    EXPECT_THAT(WrongWithImageList(Cat("0\t", label, "\ta.png")), HasSubstr("is a whole number that float32"));
  }
  const ImageList list = Parse("0\t-0\t+016777216\t-33554432.0\t0.1\t1e30\t1.234568e9\ta.png\n");
  EXPECT_THAT(list.labels(0), ElementsAre(0, 16777216, -33554432, 0.1F, 1e30F, 1.234568e9F));
}

TEST(ImageList, ReadsSeveralLabels) {
  const ImageList list = Parse("7\t0.000000\t0.5\t100\t-1.5\tn01/a.JPEG\r\n\r\n 8 \t 1 \t+2e1\tb.JPEG \n");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_THAT(list.labels(0), ElementsAre(0, 0.5F, 100, -1.5F));
  EXPECT_THAT(list.labels(1), ElementsAre(1, 20));
  EXPECT_EQ(list.path(1), "b.JPEG");
}

TEST(ImageList, ReadsDetection) {
  const ImageList list = Parse("0\t4\t5\t640\t480\t1\t0.1\t0.2\t0.8\t0.9\t3\t0\t0\t1\t0.5\tstreet.jpg\n");
  EXPECT_THAT(list.labels(0), ElementsAre(4, 5, 640, 480, 1, 0.1F, 0.2F, 0.8F, 0.9F, 3, 0, 0, 1, 0.5F));
}

TEST(ImageList, IsWrittenAsMxnetWritesIt) {
  ImageList list;
  list.Add(0, std::vector<float>{0}, "n01/a b.JPEG");
  list.Add(1, std::vector<float>{1.5F, -2, 1e-9F}, "b.JPEG");
  EXPECT_EQ(Formatted(list, LabelText::kFixed),
            "0\t0.000000\tn01/a b.JPEG\n1\t1.500000\t-2.000000\t0.000000\tb.JPEG\n");
  EXPECT_EQ(Formatted(list, LabelText::kShortest), "0\t0\tn01/a b.JPEG\n1\t1.5\t-2\t1e-09\tb.JPEG\n");
}

TEST(ImageList, GivesBackEveryLabelThatItWrote) {
  std::mt19937 random(5);
  ImageList list;
  for (uint64_t i = 0; i < 5000; ++i) {
    const uint32_t bits = random();
    float label;
    std::memcpy(&label, &bits, sizeof(label));
    if (label != label) label = 0;
    list.Add(i * 0x1234567890u, std::vector<float>{label, static_cast<float>(i)}, "a");
  }
  const float most = std::numeric_limits<float>::max();
  list.Add(1, std::vector<float>{most, -most, std::numeric_limits<float>::denorm_min()}, "a");
  const ImageList read = Parse(Formatted(list, LabelText::kShortest));
  ASSERT_EQ(read.size(), list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    ASSERT_EQ(read.labels(i), list.labels(i)) << i;
    ASSERT_EQ(read.index(i), list.index(i));
  }
  EXPECT_THAT(Formatted(list, LabelText::kFixed), HasSubstr("-340282346638528859811704183484516925440.000000"));
}

TEST(ImageList, NamesALineThatIsNoEntry) {
  EXPECT_THAT(WrongWithImageList("0\t0\ta\n1 0 b\n"),
              HasSubstr("a.lst, line 2: a list has an index, labels and a path"));
  EXPECT_THAT(WrongWithImageList("\n\n1\ta.jpg"), HasSubstr("a.lst, line 3"));
  EXPECT_THAT(WrongWithImageList("x\t0\ta"), HasSubstr("a.lst, line 1: the index \"x\" is not a whole number"));
  EXPECT_THAT(WrongWithImageList("-1\t0\ta"), HasSubstr("the index \"-1\""));
  EXPECT_THAT(WrongWithImageList("18446744073709551616\t0\ta"), HasSubstr("the index"));
  EXPECT_THAT(WrongWithImageList("1\tcat\ta"), HasSubstr("the label \"cat\" is not a number"));
  EXPECT_THAT(WrongWithImageList("1\t0\t\ta"), HasSubstr("the label \"\""));
  EXPECT_THAT(WrongWithImageList("1\t1e39\ta"), HasSubstr("the label \"1e39\""));
  EXPECT_THAT(WrongWithImageList("1\t0\t\t\n"), HasSubstr("a list has an index, labels and a path"));
}

}  // namespace
}  // namespace headrace
