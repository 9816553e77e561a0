#include "io/formats/recordio/record_io_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/delayed_file_system.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/recordio/record_frame.h"
#include "io/formats/split_table.h"
#include "io/formats/testing/read_records.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kRecordIoFormatMagic = "\x0a\x23\xd7\xce";

std::string FramedRecordIoFormat(const std::vector<std::string>& payloads) {
  std::string frames;
  for (const std::string& payload : payloads) EXPECT_TRUE(AppendRecord({payload}, frames).ok());
  return frames;
}

std::vector<std::string> Payloads(const ReadRecords& read) {
  std::vector<std::string> payloads;
  for (const ReadRecord& record : read.records) payloads.push_back(record.content);
  return payloads;
}

std::vector<std::string> ReadRecordIoFormat(const std::string& bytes) {
  const ReadRecords read = ReadEveryWay(RecordIoFormat(), bytes);
  EXPECT_TRUE(read.error.ok()) << read.error;
  return Payloads(read);
}

std::string RandomPayload(std::mt19937& random) {
  std::string payload;
  for (size_t words = random() % 9; words > 0; --words) {
    payload +=
        random() % 3 == 0 ? kRecordIoFormatMagic : std::string(random() % 7, static_cast<char>('a' + random() % 26));
  }
  return payload;
}

TEST(RecordIoFormat, GivesThePayloads) {
  EXPECT_TRUE(ReadRecordIoFormat("").empty());
  EXPECT_THAT(ReadRecordIoFormat(FramedRecordIoFormat({""})), ElementsAre(""));
  EXPECT_THAT(ReadRecordIoFormat(FramedRecordIoFormat({"a", "", "bcde", ""})), ElementsAre("a", "", "bcde", ""));
  EXPECT_THAT(ReadRecordIoFormat(FramedRecordIoFormat({kRecordIoFormatMagic, "x" + kRecordIoFormatMagic,
                                                       "abcd" + kRecordIoFormatMagic + kRecordIoFormatMagic + "x"})),
              ElementsAre(kRecordIoFormatMagic, "x" + kRecordIoFormatMagic,
                          "abcd" + kRecordIoFormatMagic + kRecordIoFormatMagic + "x"));
}

// dmlc-core's own sample: 10 records of a header of 24 bytes and 10 lines of their number.
TEST(RecordIoFormat, ReadsAFileOfDmlcCore) {
  std::ifstream file("io/formats/recordio/testdata/dmlc-sample.rec", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_EQ(bytes.size(), 532u);
  const std::vector<std::string> payloads = ReadRecordIoFormat(bytes);
  ASSERT_EQ(payloads.size(), 10u);
  for (size_t i = 0; i < 10; ++i) {
    std::string lines;
    for (int line = 0; line < 10; ++line) lines += std::to_string(i + 1) + "\n";
    EXPECT_EQ(payloads[i].substr(24), lines);
  }
  EXPECT_EQ(FramedRecordIoFormat(payloads), bytes) << "written again";
}

TEST(RecordIoFormat, GivesTheSameRecordsWhateverTheSizeOfSplitsAndBlocks) {
  std::mt19937 random(11);
  for (int i = 0; i < 60; ++i) {
    std::vector<std::string> payloads(random() % 20);
    for (std::string& payload : payloads) payload = RandomPayload(random);
    EXPECT_EQ(ReadRecordIoFormat(FramedRecordIoFormat(payloads)), payloads);
  }
  std::vector<std::string> lengths;
  for (size_t length = 0; length < 150; ++length) lengths.emplace_back(length, 'x');
  EXPECT_EQ(ReadRecordIoFormat(FramedRecordIoFormat(lengths)), lengths);
}

TEST(RecordIoFormat, GivesOffsetsOfHeads) {
  const ReadRecords read = ReadEveryWay(RecordIoFormat(), FramedRecordIoFormat({"abc", kRecordIoFormatMagic, ""}));
  ASSERT_EQ(read.records.size(), 3u);
  EXPECT_EQ(read.records[0].offset, 0);
  EXPECT_EQ(read.records[1].offset, 12);
  EXPECT_EQ(read.records[2].offset, 28);
  EXPECT_EQ(read.records[2].after, 36);
}

// No byte of a record of one part moves, whatever it is after.
TEST(RecordIoFormat, GivesViewsOfOneBuffer) {
  const OneFile file(FramedRecordIoFormat({"abcd", kRecordIoFormatMagic + "efgh", "ijkl"}));
  const RecordIoFormat format;
  const auto reader = format.Open(file, "a", {}, 0, 4096);
  ASSERT_TRUE(reader.ok());
  RecordBlock block;
  ASSERT_TRUE((*reader)->Next(block).ok());
  ASSERT_EQ(block.records.size(), 3u);
  EXPECT_EQ(block.records[0].begin, 8u);
  EXPECT_EQ(block.records[1].begin, 20u);
  EXPECT_EQ(block.records[2].begin, 12u + 20u + 8u);
}

TEST(RecordIoFormat, NamesDamageByItsByteAfterTheRecordsBefore) {
  const std::string good = FramedRecordIoFormat({"one", "two"});
  const auto at = static_cast<int64_t>(good.size());
  const std::string third = FramedRecordIoFormat({std::string(100, 'x')});
  for (size_t bytes = 1; bytes < third.size(); ++bytes) {
    const ReadRecords read = ReadEveryWay(RecordIoFormat(), good + third.substr(0, bytes));
    EXPECT_EQ(KindOf(read.error), ErrorKind::kData) << bytes;
    EXPECT_THAT(Payloads(read), ElementsAre("one", "two")) << bytes;
    EXPECT_EQ(read.failed, at) << bytes;
  }
  const ReadRecords orphan = ReadEveryWay(RecordIoFormat(), FramedRecordIoFormat({kRecordIoFormatMagic}).substr(8));
  EXPECT_THAT(std::string(ToStd(orphan.error.message())), HasSubstr("byte 0 lacks the parts before it"));
}

// A record whose end is no other's head is not given: its length may be wrong.
TEST(RecordIoFormat, GivesNoRecordWhoseLengthIsWrong) {
  const std::string good = FramedRecordIoFormat({"one", std::string(20, 'x'), "three"});
  for (uint32_t length = 0; length < 60; ++length) {
    // What is right, and what leads to the end of the next record, where a head could be as well.
    if ((length > 16 && length <= 20) || (length > 32 && length <= 36)) continue;
    std::string bytes = good;
    bytes.replace(16, 4, std::string(reinterpret_cast<const char*>(&length), 4));
    const ReadRecords read = ReadEveryWay(RecordIoFormat(), bytes);
    EXPECT_THAT(Payloads(read), ElementsAre("one")) << length;
    EXPECT_EQ(read.failed, 12) << length;
    const ReadRecords skipped = ReadEveryWay(RecordIoFormat(OnDamage::kSkip), bytes);
    EXPECT_THAT(Payloads(skipped), ElementsAre("one", "three")) << length;
    ASSERT_EQ(skipped.lost.size(), 1u);
    EXPECT_EQ(skipped.lost[0].offset, 12);
    EXPECT_EQ(skipped.lost[0].bytes, 28);
    EXPECT_THAT(skipped.lost[0].reason, HasSubstr("byte 12"));
  }
}

TEST(RecordIoFormat, GoesOnBehindDamage) {
  const std::vector<std::string> payloads = {
      "one", "two " + kRecordIoFormatMagic + " parts", "", "four", std::string(70, 'x'), "six"};
  std::vector<std::string> frames;
  for (const std::string& payload : payloads) frames.push_back(FramedRecordIoFormat({payload}));
  const std::string good = FramedRecordIoFormat(payloads);
  for (size_t at = 0; at + 4 <= good.size(); at += 4) {
    std::string bytes = good;
    bytes.replace(at, 4, "\xFF\xFF\xFF\xFF");
    const ReadRecords read = ReadEveryWay(RecordIoFormat(OnDamage::kSkip), bytes);
    EXPECT_TRUE(read.error.ok()) << read.error;
    // Heads are at 0, 12, …: only damage to one of them is damage; it takes its record, or the one before as well.
    const std::vector<std::string> found = Payloads(read);
    size_t expected = 0;
    for (const std::string& payload : found) {
      while (expected < payloads.size() && payload.size() != payloads[expected].size()) ++expected;
      ASSERT_LT(expected++, payloads.size()) << at;
    }
    EXPECT_GE(found.size() + 2, payloads.size()) << at;
    EXPECT_EQ(found.size() == payloads.size(), read.lost.empty()) << at;
  }
}

TEST(RecordIoFormat, TellsOfAllLostBytes) {
  const std::string garbage(40, '?');
  const std::string first = FramedRecordIoFormat({"first"});
  const std::string second = FramedRecordIoFormat({"second"});
  const ReadRecords start = ReadEveryWay(RecordIoFormat(OnDamage::kSkip), garbage + first + second);
  EXPECT_THAT(Payloads(start), ElementsAre("first", "second"));
  ASSERT_EQ(start.lost.size(), 1u);
  EXPECT_EQ(start.lost[0].offset, 0);
  EXPECT_EQ(start.lost[0].bytes, 40);
  // The first ends at no head, so it may be wrong.
  const ReadRecords middle = ReadEveryWay(RecordIoFormat(OnDamage::kSkip), first + garbage + second);
  EXPECT_THAT(Payloads(middle), ElementsAre("second"));
  ASSERT_EQ(middle.lost.size(), 1u);
  EXPECT_EQ(middle.lost[0].bytes, 16 + 40);
  const ReadRecords end = ReadEveryWay(RecordIoFormat(OnDamage::kSkip), first + second.substr(0, 12));
  EXPECT_THAT(Payloads(end), ElementsAre("first"));
  ASSERT_EQ(end.lost.size(), 1u);
  EXPECT_EQ(end.lost[0].offset, 16);
  EXPECT_EQ(end.lost[0].bytes, 12);
}

// Two records in succession whose heads claim too much are one stretch of lost bytes.
TEST(RecordIoFormat, TellsOfDamageThatGoesOnAsOne) {
  std::string claims;
  for (int i = 0; i < 1000; ++i) claims += std::string("\x0a\x23\xd7\xce\xff\xff\xff\x1f", 8);
  const ReadRecords read = ReadEveryWay(RecordIoFormat(OnDamage::kSkip), claims + FramedRecordIoFormat({"good"}));
  EXPECT_THAT(Payloads(read), ElementsAre("good"));
  ASSERT_EQ(read.lost.size(), 1u);
  EXPECT_EQ(read.lost[0].bytes, 8000);
}

// Each of 200,000 heads claims to lead to the same 200,000 frames, which lead nowhere: 4 · 10¹⁰ steps, if they were
// followed for each head.
TEST(RecordIoFormat, FollowsFramesOnceThatManyDamagedHeadsLeadTo) {
  constexpr uint32_t kHeads = 200'000;
  const auto head = [](uint32_t part, uint32_t length) {
    const uint32_t word = part << 29 | length;
    return kRecordIoFormatMagic + std::string(reinterpret_cast<const char*>(&word), sizeof(word));
  };
  std::string bytes;
  for (uint32_t i = 0; i < kHeads; ++i) bytes += head(RecordFrame::kFirst, 8 * (kHeads - i - 1));
  for (uint32_t i = 0; i < kHeads; ++i) bytes += head(RecordFrame::kMiddle, 0);
  bytes += "nothing.";
  const size_t lost = bytes.size();
  const OneFile file(bytes + FramedRecordIoFormat({"good"}));
  for (const size_t block_bytes : {size_t{4096}, size_t{1} << 20}) {
    const ReadRecords read = ReadSplit(RecordIoFormat(OnDamage::kSkip), file, "a.rec", {}, 0, block_bytes);
    EXPECT_THAT(Payloads(read), ElementsAre("good"));
    ASSERT_EQ(read.lost.size(), 1u);
    EXPECT_EQ(read.lost[0].bytes, static_cast<int64_t>(lost));
    EXPECT_THAT(read.lost[0].reason, HasSubstr("the record at byte 0 is not continued at byte 3200000"));
  }
}

TEST(RecordIoFormat, EndsItsSearchWhereItIsNoLongerWanted) {
  const OneFile file(std::string(1 << 20, '\0'));
  const auto reader = RecordIoFormat(OnDamage::kSkip).Open(file, "a.rec", {}, 0, 4096);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const std::atomic<bool> stop{true};
  const StopSignal signal(&stop);
  RecordBlock block;
  EXPECT_EQ(KindOf((*reader)->Next(block)), ErrorKind::kClosed);
}

TEST(RecordIoFormat, ReadsOnFromAnyRecordOfADamagedFile) {
  std::mt19937 random(5);
  for (int i = 0; i < 40; ++i) {
    std::vector<std::string> payloads(1 + random() % 12);
    for (std::string& payload : payloads) payload = RandomPayload(random);
    std::string bytes = FramedRecordIoFormat(payloads);
    for (int damages = 0; damages < 3; ++damages) {
      const size_t at = random() % bytes.size();
      if (random() % 2 == 0) {
        bytes[at] = static_cast<char>(random());
      } else {
        bytes.erase(at, random() % 20);
      }
      if (bytes.empty()) break;
    }
    ReadEveryWay(RecordIoFormat(OnDamage::kSkip), bytes);
    ReadEveryWay(RecordIoFormat(OnDamage::kFail), bytes);
  }
}

// Gives out memory and keeps the size of the largest piece.
class LargestAllocation : public Allocator {
 public:
  void* Allocate(size_t bytes) override {
    largest = std::max(largest, bytes);
    return under_->Allocate(bytes);
  }
  void Free(void* memory, size_t bytes) override { under_->Free(memory, bytes); }

  size_t largest = 0;

 private:
  Allocator* const under_ = SystemAllocator();
};

// A record that claims 64 MB of a file that has them, and one that claims 512 MB.
TEST(RecordIoFormat, TakesNoMemoryForWhatAHeadMerelyClaims) {
  const std::string good = FramedRecordIoFormat({"good"});
  for (const std::string claim : {"\xf0\xff\xff\x03", "\xff\xff\xff\x1f"}) {
    std::string bytes = good + kRecordIoFormatMagic + claim;
    bytes.resize((64 << 20) + 64);
    const OneFile file(bytes + FramedRecordIoFormat({"behind"}));
    for (const OnDamage on_damage : {OnDamage::kFail, OnDamage::kSkip}) {
      LargestAllocation allocator;
      BufferPool pool(&allocator);
      MemoryAccount* const account = MemoryAccount::Open();
      ReadRecords read;
      {
        const TaskMemory memory(&pool, account, 0);
        read = ReadSplit(RecordIoFormat(on_damage), file, "a", {}, 0, 64 << 10);
      }
      account->Close();
      pool.Trim(0);
      EXPECT_LE(allocator.largest, size_t{1} << 20);
      if (on_damage == OnDamage::kFail) {
        EXPECT_THAT(Payloads(read), ElementsAre("good"));
        EXPECT_EQ(read.failed, static_cast<int64_t>(good.size()));
      } else {
        EXPECT_THAT(Payloads(read), ElementsAre("good", "behind"));
        EXPECT_EQ(read.lost.size(), 1u);
      }
    }
  }
}

TEST(RecordIoFormat, ReadsRecordsThatAreLongerThanABlock) {
  std::string joined;
  for (int i = 0; i < 3000; ++i) joined += kRecordIoFormatMagic + std::string(static_cast<size_t>(i % 50), 'y');
  const std::vector<std::string> payloads = {std::string(1 << 20, 'x'), "short", joined, std::string(100'000, 'z')};
  const OneFile file(FramedRecordIoFormat(payloads));
  for (const size_t block : {64, 4096, 100'000, 1 << 20, 8 << 20}) {
    const ReadRecords read = ReadSplit(RecordIoFormat(), file, "a", {}, 0, block);
    EXPECT_TRUE(read.error.ok()) << read.error;
    EXPECT_EQ(Payloads(read), payloads) << block;
  }
}

TEST(RecordIoFormat, ReadsOfASplitLittleMoreThanItsBytes) {
  std::vector<std::string> payloads(2000, std::string(1016, 'x'));
  const OneFile one(FramedRecordIoFormat(payloads));
  for (const size_t block : {16 << 10, 64 << 10, 8 << 20}) {
    const CountedReads counted(&one);
    const Split split{512'000, 1'024'000};
    EXPECT_EQ(ReadSplit(RecordIoFormat(), counted, "a", split, split.begin, block).records.size(), 500u);
    EXPECT_LE(counted.bytes(), 512'000 + 8192) << block;
  }
  // One that is far longer than what is read after a split by the way.
  const OneFile far(FramedRecordIoFormat({std::string(1000, 'a'), std::string(3 << 20, 'b'), "c"}));
  const CountedReads counted(&far);
  EXPECT_EQ(ReadSplit(RecordIoFormat(), counted, "a", {0, 1500}, 0, 64 << 10).records.size(), 2u);
  EXPECT_LE(counted.bytes(), 1500 + (3 << 20) + (64 << 10));
}

TEST(RecordIoFormat, RefusesAFileThatChangesWhileItIsReadWhateverIsSkipped) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a.rec", FramedRecordIoFormat({"what was there"}));
  const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
    if (call == "ReadAt") folder.Write("a.rec", FramedRecordIoFormat({"short"}));
    return absl::OkStatus();
  });
  EXPECT_EQ(KindOf(ReadSplit(RecordIoFormat(OnDamage::kSkip), files, path, {}, 0, 4096).error), ErrorKind::kData);
}

TEST(RecordIoFormat, PassesOnWhatReadingFailsOf) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a.rec", FramedRecordIoFormat({"a"}));
  const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
    return call == "ReadAt" ? ResourceError("no more") : absl::OkStatus();
  });
  EXPECT_EQ(KindOf(ReadSplit(RecordIoFormat(OnDamage::kSkip), files, path, {}, 0, 4096).error), ErrorKind::kResource);
}

TEST(RecordIoFormat, AsksForTheNextBlockBeforeItNeedsIt) {
  const OneFile one(FramedRecordIoFormat(std::vector<std::string>(1000, std::string(56, 'x'))));
  const DelayedFileSystem files(&one);
  const RecordIoFormat format;
  const auto reader = format.Open(files, "a.rec", {}, 0, 4096);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(files.outstanding(), 1u);
  files.CompleteOne();
  RecordBlock block;
  ASSERT_TRUE((*reader)->Next(block).ok());
  EXPECT_EQ(files.outstanding(), 1u);
  EXPECT_EQ(block.records.size(), 63u) << "the head after the 64th shows that it ends there";
  EXPECT_TRUE(files.CompleteOne());
}

}  // namespace
}  // namespace headrace
