#include "io/formats/recordio/record_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/testing/one_file.h"
#include "io/formats/recordio/record_frame.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string WrongWithRecordIndex(std::string_view text) {
  const absl::Status status = ParseRecordIndex(text, "a.idx").status();
  EXPECT_EQ(KindOf(status), ErrorKind::kData);
  return std::string(ToStd(status.message()));
}

TEST(RecordIndex, IsReadAndWrittenAsMxnetDoes) {
  const std::string text = "0\t0\n1\t100632\n18446744073709551615\t9223372036854775804\n";
  const absl::StatusOr<RecordIndex> index = ParseRecordIndex(text, "a.idx");
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_THAT(index->keys, ElementsAre(0, 1, 18446744073709551615u));
  EXPECT_THAT(index->offsets, ElementsAre(0, 100632, 9223372036854775804));
  EXPECT_EQ(FormatRecordIndex(*index), text);
}

TEST(RecordIndex, LeavesOutAByteOrderMark) {
  EXPECT_THAT(ParseRecordIndex("\xEF\xBB\xBF"
                               "3\t8\n",
                               "a.idx")
                  ->keys,
              ElementsAre(3));
}

TEST(RecordIndex, TakesOtherEndsOfLinesKeysInAnyOrderAndTwice) {
  const absl::StatusOr<RecordIndex> index = ParseRecordIndex("7\t8\r\n\n 3\t0 \r\n7\t16", "a.idx");
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_THAT(index->keys, ElementsAre(7, 3, 7));
  EXPECT_THAT(index->offsets, ElementsAre(8, 0, 16));
  EXPECT_EQ(ParseRecordIndex("", "a.idx")->keys.size(), 0u);
}

TEST(RecordIndex, NamesALineThatIsNoKeyAndOffset) {
  EXPECT_THAT(WrongWithRecordIndex("0\t0\n1 8\n"), HasSubstr("a.idx, line 2: an index has lines of a key, a tab"));
  for (const char* line :
       {"1", "1\t", "\t8", "1\tx", "1\t8x", "1\t-8", "1\t9223372036854775808", "1\t8\t9", "1\t0x10"}) {
    EXPECT_THAT(WrongWithRecordIndex(Cat("0\t0\n\n", line)), HasSubstr("a.idx, line 3")) << line;
  }
  for (const char* key : {"x", "-1", "1.0", "18446744073709551616"}) {
    EXPECT_THAT(WrongWithRecordIndex(Cat(key, "\t8")), HasSubstr("is not a whole number from 0")) << key;
  }
}

TEST(RecordIndex, GivesKeysThatAreNoNumbersAsTheyAre) {
  const auto lines = ParseRecordIndexLines("cat.jpg\t0\nmy dog.jpg\t8\n", "a.idx");
  ASSERT_TRUE(lines.ok()) << lines.status();
  ASSERT_EQ(lines->size(), 2u);
  EXPECT_EQ((*lines)[1].key, "my dog.jpg");
  EXPECT_EQ((*lines)[1].offset, 8);
  EXPECT_EQ((*lines)[1].number, 2u);
}

TEST(RecordIndex, IsMadeByAScan) {
  std::string frames;
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < 3000; ++i) {
    offsets.push_back(static_cast<int64_t>(frames.size()));
    const std::string payload(i * 7, 'x');
    ASSERT_TRUE(AppendRecord({payload}, frames).ok());
  }
  const auto index = ScanRecords(OneFile(frames), "a.rec", OnDamage::kFail);
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(index->offsets, offsets);
  for (size_t i = 0; i < offsets.size(); ++i) EXPECT_EQ(index->keys[i], i);
}

TEST(RecordIndex, ScansADamagedFileAsItIsTold) {
  std::string frames;
  for (const char* payload : {"one", "two", "three"}) ASSERT_TRUE(AppendRecord({payload}, frames).ok());
  frames[12] = 'x';
  const absl::Status failed = ScanRecords(OneFile(frames), "a.rec", OnDamage::kFail).status();
  EXPECT_EQ(KindOf(failed), ErrorKind::kData);
  EXPECT_EQ(GetErrorField(failed, ErrorField::kFile), "a.rec, byte 0");
  std::vector<LostBytes> lost;
  const auto index = ScanRecords(OneFile(frames), "a.rec", OnDamage::kSkip, &lost);
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_THAT(index->offsets, ElementsAre(24));
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].bytes, 24);
}

TEST(RecordIndex, TellsOfVeryManyPlacesTogether) {
  std::string good;
  ASSERT_TRUE(AppendRecord({""}, good).ok());
  std::string frames;
  for (int i = 0; i < 70'000; ++i) frames += "lost" + good + good;
  std::vector<LostBytes> lost;
  const auto index = ScanRecords(OneFile(frames), "a.rec", OnDamage::kSkip, &lost);
  ASSERT_TRUE(index.ok()) << index.status();
  ASSERT_EQ(lost.size(), 65'537u);
  EXPECT_THAT(lost.back().reason, HasSubstr("further places"));
  int64_t bytes = 0;
  for (const LostBytes& each : lost) bytes += each.bytes;
  EXPECT_EQ(bytes + 8 * static_cast<int64_t>(index->offsets.size()), static_cast<int64_t>(frames.size()));
}

TEST(RecordIndex, EndsWhereItIsNoLongerWanted) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "1\t8\n";
  const std::atomic<bool> stop{true};
  const StopSignal signal(&stop);
  EXPECT_EQ(KindOf(ParseRecordIndex(text, "a.idx").status()), ErrorKind::kClosed);
}

}  // namespace
}  // namespace headrace
