#include "io/formats/recordio/record_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/buffer.h"
#include "core/error.h"
#include "io/files/testing/one_file.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

const std::string kRecordFrameMagic = "\x0a\x23\xd7\xce";

std::string Head(uint32_t part, uint32_t length) {
  const uint32_t word = part << 29 | length;
  return kRecordFrameMagic + std::string(reinterpret_cast<const char*>(&word), sizeof(word));
}

std::string FramedRecordFrame(std::string_view payload) {
  std::string frames;
  EXPECT_TRUE(AppendRecord({payload}, frames).ok());
  return frames;
}

struct Cutting {
  CutRecord record;
  std::string payload;
};

absl::StatusOr<Cutting> Cut(std::string bytes, bool last = true, int64_t offset = 0) {
  auto* const data = reinterpret_cast<uint8_t*>(bytes.data());
  HEADRACE_ASSIGN_OR_RETURN(const CutRecord record, CutRecordAt(absl::MakeSpan(data, bytes.size()), offset, last));
  return Cutting{record, record.whole ? bytes.substr(record.begin, record.length) : ""};
}

// What is wrong with it; "" for nothing.
std::string WrongWithRecordFrame(const std::string& bytes, int64_t offset = 0) {
  const absl::Status status = Cut(bytes, true, offset).status();
  EXPECT_TRUE(status.ok() || KindOf(status) == ErrorKind::kData);
  return std::string(ToStd(status.message()));
}

// The vectors that dmlc-core's writer gives.
TEST(RecordFrame, IsWrittenAsDmlcCoreWritesIt) {
  EXPECT_EQ(FramedRecordFrame(""), Head(0, 0));
  EXPECT_EQ(FramedRecordFrame("abcde"), Head(0, 5) + "abcde" + std::string(3, '\0'));
  EXPECT_EQ(FramedRecordFrame(kRecordFrameMagic), Head(1, 0) + Head(3, 0));
  EXPECT_EQ(FramedRecordFrame("abcd" + kRecordFrameMagic + "x"),
            Head(1, 4) + "abcd" + Head(3, 1) + "x" + std::string(3, '\0'));
  EXPECT_EQ(FramedRecordFrame(kRecordFrameMagic + kRecordFrameMagic + "abc"),
            Head(1, 0) + Head(2, 0) + Head(3, 3) + "abc" + std::string(1, '\0'));
  EXPECT_EQ(FramedRecordFrame("ab" + kRecordFrameMagic + "cd"), Head(0, 8) + "ab" + kRecordFrameMagic + "cd");
  EXPECT_EQ(FramedRecordFrame("abc" + kRecordFrameMagic.substr(0, 1)),
            Head(0, 4) + "abc" + kRecordFrameMagic.substr(0, 1));
}

TEST(RecordFrame, GivesBackWhatWasWritten) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string payload;
    for (size_t words = random() % 12; words > 0; --words) {
      payload +=
          random() % 2 == 0 ? kRecordFrameMagic : std::string(random() % 6, static_cast<char>('a' + random() % 26));
    }
    const absl::StatusOr<Cutting> cut = Cut(FramedRecordFrame(payload) + (i % 2 == 0 ? "" : FramedRecordFrame("next")));
    ASSERT_TRUE(cut.ok()) << cut.status();
    ASSERT_TRUE(cut->record.whole);
    ASSERT_EQ(cut->payload, payload);
    ASSERT_EQ(cut->record.end, FramedRecordFrame(payload).size());
  }
}

TEST(RecordFrame, IsTheSameForAPayloadInPieces) {
  const std::string payload =
      "abc" + kRecordFrameMagic + kRecordFrameMagic + "d" + kRecordFrameMagic + "efgh" + kRecordFrameMagic;
  for (size_t first = 0; first <= payload.size(); ++first) {
    for (size_t second = first; second <= payload.size(); ++second) {
      const std::string_view whole = payload;
      std::string frames = "before";
      ASSERT_TRUE(
          AppendRecord({whole.substr(0, first), whole.substr(first, second - first), whole.substr(second)}, frames)
              .ok());
      EXPECT_EQ(frames, "before" + FramedRecordFrame(payload));
    }
  }
}

TEST(RecordFrame, FindsMagicWordsWhereverTheyAre) {
  for (size_t at = 0; at < 80; ++at) {
    std::string payload(100, 'x');
    payload.replace(at, 4, kRecordFrameMagic);
    const std::string frames = FramedRecordFrame(payload);
    EXPECT_EQ(frames.substr(0, 8), at % 4 == 0 ? Head(1, static_cast<uint32_t>(at)) : Head(0, 100)) << at;
    EXPECT_EQ(Cut(frames)->payload, payload) << at;
  }
}

// Its bytes are not read: they are not there.
TEST(RecordFrame, RefusesAPayloadThatIsTooLong) {
  std::string frames = "before";
  const std::string_view piece(nullptr, RecordFrame::kLongest / 2 + 1);
  const absl::Status status = AppendRecord({piece, piece}, frames);
  EXPECT_EQ(KindOf(status), ErrorKind::kData);
  EXPECT_THAT(std::string(ToStd(status.message())), HasSubstr("at most 536870911 bytes, and this one has 536870912"));
  EXPECT_EQ(frames, "before");
}

TEST(RecordFrame, AsksForMoreBytesAsLongAsTheRecordGoesOn) {
  const std::string frames = FramedRecordFrame("abcd" + kRecordFrameMagic + "efgh") + FramedRecordFrame("");
  const size_t end = frames.size() - 8;
  for (size_t bytes = 0; bytes < frames.size(); ++bytes) {
    const absl::StatusOr<Cutting> cut = Cut(frames.substr(0, bytes), /*last=*/false);
    ASSERT_TRUE(cut.ok()) << bytes;
    EXPECT_FALSE(cut->record.whole) << bytes;
    EXPECT_GT(cut->record.end, bytes);
    EXPECT_LE(cut->record.end, frames.size());
  }
  EXPECT_EQ(Cut(frames, false)->record.end, end);
  EXPECT_EQ(Cut(frames.substr(0, end))->record.end, end);
}

TEST(RecordFrame, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(WrongWithRecordFrame("not a record", 40), HasSubstr("no record begins at byte 40: the magic word"));
  EXPECT_THAT(WrongWithRecordFrame(Head(3, 0), 40), HasSubstr("part is at byte 40 lacks the parts before it"));
  EXPECT_THAT(WrongWithRecordFrame(Head(7, 0), 40), HasSubstr("byte 40 lacks"));
  EXPECT_THAT(WrongWithRecordFrame(kRecordFrameMagic, 40), HasSubstr("at byte 40 is cut off"));
  EXPECT_THAT(WrongWithRecordFrame(Head(0, 20) + "abc", 40), HasSubstr("at byte 40 is cut off: it reaches to byte 68"));
  EXPECT_THAT(WrongWithRecordFrame(Head(0, 5) + "abcde", 40), HasSubstr("cut off")) << "without its padding";
  EXPECT_THAT(WrongWithRecordFrame(Head(1, 4) + "abcd", 40), HasSubstr("at byte 40 is cut off"));
  EXPECT_THAT(WrongWithRecordFrame(Head(1, 4) + "abcd" + Head(0, 0), 40), HasSubstr("not continued at byte 52"));
  EXPECT_THAT(WrongWithRecordFrame(Head(1, 4) + "abcdabcdabcd", 40), HasSubstr("not continued at byte 52"));
  EXPECT_THAT(WrongWithRecordFrame(Head(0, 4) + "abcdabcdabcd", 40),
              HasSubstr("ends at byte 52, where neither another record"));
  EXPECT_THAT(WrongWithRecordFrame(Head(0, 4) + "abcd" + Head(3, 0), 40), HasSubstr("ends at byte 52"));
  EXPECT_THAT(WrongWithRecordFrame(Head(0, 4) + "abcdx", 40), HasSubstr("ends at byte 52"));
  for (size_t bytes = 0; bytes <= 8; ++bytes) {
    EXPECT_EQ(WrongWithRecordFrame(Head(0, 4) + "abcd" + Head(0, 0).substr(0, bytes)), "")
        << "the next one is cut off at " << bytes;
  }
}

TEST(RecordFrame, RefusesARecordWhosePartsAreTooLongTogether) {
  const uint32_t most = RecordFrame::kLongest & ~3u;
  const std::string first = Head(1, most);
  // Made of pages that nobody touches but those of the two heads.
  const BufferRef buffer = BufferPool::Global().Allocate(first.size() + most + 8);
  std::memcpy(buffer->data(), first.data(), first.size());
  std::memcpy(buffer->data() + first.size() + most, Head(3, 0).data(), 8);
  const absl::Status status = CutRecordAt(absl::MakeSpan(buffer->data(), first.size() + most + 8), 40, true).status();
  EXPECT_THAT(std::string(ToStd(status.message())), HasSubstr("at byte 40 is longer than 536870911 bytes"));
}

TEST(RecordFrame, LooksWhereALongRecordWouldEnd) {
  const auto reach = [](const std::string& file, size_t bytes, int64_t offset = 0) {
    const OneFile kept(file);
    const auto opened = kept.Open("a");
    const std::string_view there = std::string_view(file).substr(static_cast<size_t>(offset), bytes);
    const absl::Status status = CheckRecordReach(
        absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(there.data()), there.size()), offset, **opened);
    return std::string(ToStd(status.message()));
  };
  const std::string payload = std::string(20, 'x') + kRecordFrameMagic + std::string(30, 'y');
  const std::string file = FramedRecordFrame("first") + FramedRecordFrame(payload) + FramedRecordFrame("last");
  const auto second = static_cast<int64_t>(FramedRecordFrame("first").size());
  const auto third = second + static_cast<int64_t>(FramedRecordFrame(payload).size());
  for (size_t bytes = 0; bytes < 60; ++bytes) EXPECT_EQ(reach(file, bytes, second), "") << bytes;
  EXPECT_EQ(reach(file, 8, third), "") << "to the file's end";
  EXPECT_THAT(reach(Head(0, 536870911), 8), HasSubstr("cut off"));
  EXPECT_THAT(reach(Head(1, 536870908), 8), HasSubstr("cut off"));
  EXPECT_THAT(reach(Head(1, 4) + "abcd", 8), HasSubstr("cut off"));
  EXPECT_THAT(reach(Head(0, 4) + "abcdabcdabcd", 8), HasSubstr("ends at byte 12"));
  EXPECT_THAT(reach(Head(1, 4) + "abcd" + Head(0, 0), 8), HasSubstr("not continued at byte 12"));
}

TEST(RecordFrame, FindsHeadsAtMultiplesOfFourBytesOfTheFile) {
  const auto find = [](const std::string& bytes, int64_t offset, bool last = false) {
    return FindRecordHead(absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()), offset,
                          last);
  };
  EXPECT_EQ(find(Head(0, 3), 8), 0u);
  EXPECT_EQ(find(Head(1, 3), 8), 0u);
  EXPECT_EQ(find(Head(2, 3) + Head(3, 3) + Head(0, 3), 8), 16u);
  EXPECT_EQ(find("x" + Head(0, 3), 8), 9u) << "none";
  EXPECT_EQ(find("x" + Head(0, 3), 7), 1u);
  EXPECT_EQ(find("xyz" + Head(0, 3), 5), 3u);
  EXPECT_EQ(find("abcd" + kRecordFrameMagic, 0), 8u) << "perhaps one";
  EXPECT_EQ(find("abcd" + kRecordFrameMagic, 0, true), 4u) << "one that is cut off";
  EXPECT_EQ(find("abcd" + kRecordFrameMagic.substr(0, 1), 0, true), 4u);
  EXPECT_EQ(find("abcdx", 0, true), 5u);
  EXPECT_EQ(find("", 0, true), 0u);
}

}  // namespace
}  // namespace headrace
