#include "io/formats/tfrecord/tf_record_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/testing/read_records.h"
#include "io/formats/tfrecord/testing/example_bytes.h"
#include "io/formats/tfrecord/tf_record_frame.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Payloads = std::vector<std::string>;

constexpr size_t kBlocksOfTfRecords[] = {1, 3, 12, 16, 61, 4096, size_t{256} << 10};

// Where lost bytes begin and end, each stretch as one: blocks may tell of it in pieces.
std::vector<std::pair<int64_t, int64_t>> StretchesOf(const std::vector<LostBytes>& lost) {
  std::vector<std::pair<int64_t, int64_t>> stretches;
  for (const LostBytes& each : lost) {
    if (stretches.empty() || stretches.back().second != each.offset) stretches.emplace_back(each.offset, each.offset);
    stretches.back().second += each.bytes;
  }
  return stretches;
}

// The records of a file, the same for blocks of any size and from each record on.
ReadRecords ReadTfRecords(const std::string& bytes, OnDamage on_damage = OnDamage::kFail,
                          std::optional<Compression> compression = std::nullopt) {
  const OneFile file(bytes);
  const TfRecordFormat format(on_damage, compression);
  ReadRecords whole = ReadSplit(format, file, "a", {}, 0, size_t{1} << 20);
  for (const size_t block : kBlocksOfTfRecords) {
    const ReadRecords read = ReadSplit(format, file, "a", {}, 0, block);
    EXPECT_EQ(read.records, whole.records) << block;
    EXPECT_EQ(read.error, whole.error) << block;
    EXPECT_EQ(read.failed, whole.failed) << block;
    EXPECT_EQ(StretchesOf(read.lost), StretchesOf(whole.lost)) << block;
  }
  for (size_t i = 0; i < whole.records.size(); ++i) {
    const ReadRecords rest = ReadSplit(format, file, "a", {}, whole.records[i].after, 61);
    EXPECT_TRUE(std::equal(rest.records.begin(), rest.records.end(), whole.records.begin() + static_cast<long>(i) + 1,
                           whole.records.end()))
        << i;
    EXPECT_EQ(rest.error.ok(), whole.error.ok());
  }
  return whole;
}

Payloads PayloadsOf(const ReadRecords& read) {
  Payloads payloads;
  for (const ReadRecord& record : read.records) payloads.push_back(record.content);
  return payloads;
}

Payloads ReadGoodTfRecords(const std::string& bytes) {
  const ReadRecords read = ReadTfRecords(bytes);
  EXPECT_TRUE(read.error.ok()) << read.error;
  return PayloadsOf(read);
}

std::string TestFile(const std::string& name) {
  std::ifstream file("io/formats/tfrecord/testdata/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TfRecordFormat, GivesThePayloads) {
  EXPECT_THAT(ReadGoodTfRecords(""), IsEmpty());
  EXPECT_THAT(ReadGoodTfRecords(TfRecordBytes({""})), ElementsAre(""));
  const Payloads some = {"one", "", std::string(5000, 'x'), "", "\x1f\x8b\x08", std::string(200'000, 'y')};
  EXPECT_EQ(ReadGoodTfRecords(TfRecordBytes(some)), some);
}

TEST(TfRecordFormat, GivesTheBytesOfFrames) {
  const ReadRecords read = ReadTfRecords(TfRecordBytes({"abc", "", "d"}));
  ASSERT_EQ(read.records.size(), 3u);
  EXPECT_EQ(read.records[0].offset, 0);
  EXPECT_EQ(read.records[1].offset, 19);
  EXPECT_EQ(read.records[2].offset, 35);
  EXPECT_EQ(read.records[2].after, 52);
}

// Of TensorFlow 2.21.
TEST(TfRecordFormat, ReadsFilesOfTensorFlowHoweverTheyAreCompressed) {
  const Payloads plain = ReadGoodTfRecords(TestFile("examples.tfrecord"));
  ASSERT_EQ(plain.size(), 5u);
  for (const std::string& payload : plain) EXPECT_EQ(payload[0], '\x0a');
  for (const char* name : {"examples.tfrecord.gz", "examples.tfrecord.zlib"}) {
    EXPECT_EQ(ReadGoodTfRecords(TestFile(name)), plain) << name;
  }
  EXPECT_EQ(ReadGoodTfRecords(TestFile("sequence.tfrecord")).size(), 3u);
}

TEST(TfRecordFormat, FindsTheCompressionByTheFirstBytes) {
  const std::string plain = TfRecordBytes({"one", "two"});
  const auto of = [](const std::string& bytes) { return *TfRecordCompressionOfFile(OneFile(bytes), "a"); };
  EXPECT_EQ(of(""), Compression::kNone);
  EXPECT_EQ(of(plain), Compression::kNone);
  for (const Compression compression : {Compression::kGzip, Compression::kZlib, Compression::kZstd}) {
    EXPECT_EQ(of(Compress(compression, plain)), compression);
    EXPECT_EQ(of(Compress(compression, "")), compression);
    EXPECT_THAT(ReadGoodTfRecords(Compress(compression, plain)), ElementsAre("one", "two"));
    EXPECT_THAT(ReadGoodTfRecords(Compress(compression, "")), IsEmpty());
  }
  // Of the length 0x9c78, which begins as zlib does; and of 0x088b1f, as gzip.
  for (const size_t length : {size_t{0x9c78}, size_t{0x088b1f}}) {
    const std::string bytes = TfRecordBytes({std::string(length, 'x')});
    EXPECT_EQ(of(bytes), Compression::kNone);
    const OneFile file(bytes);
    EXPECT_EQ(ReadSplit(TfRecordFormat(), file, "a", {}, 0, 4096).records.size(), 1u);
  }
}

TEST(TfRecordFormat, ReadsSeveralMembersOfGzip) {
  const std::string bytes = TfRecordBytes({"one", "two"});
  EXPECT_THAT(ReadGoodTfRecords(Compress(Compression::kGzip, bytes.substr(0, 9)) +
                                Compress(Compression::kGzip, bytes.substr(9))),
              ElementsAre("one", "two"));
}

TEST(TfRecordFormat, TakesTheCompressionThatIsStated) {
  const std::string plain = TfRecordBytes({"one"});
  const auto error = [](const std::string& bytes, Compression compression) {
    return std::string(ToStd(ReadTfRecords(bytes, OnDamage::kFail, compression).error.message()));
  };
  const std::string gzip = Compress(Compression::kGzip, plain);
  EXPECT_THAT(PayloadsOf(ReadTfRecords(gzip, OnDamage::kFail, Compression::kGzip)), ElementsAre("one"));
  EXPECT_THAT(error(gzip, Compression::kNone), HasSubstr("begin as those of gzip do; leave out compression="));
  EXPECT_THAT(error(gzip, Compression::kZlib), HasSubstr("zlib data are damaged near its byte 2"));
  EXPECT_THAT(error(plain, Compression::kGzip), HasSubstr("not compressed by gzip: a record begins at byte 0"));
  EXPECT_THAT(error("no records at all", Compression::kNone), HasSubstr("is it a TFRecord file"));
}

TEST(TfRecordFormat, NamesTheByteAtWhichAFileIsCutOff) {
  const std::string good = TfRecordBytes({"one", "two"});
  const auto at = static_cast<int64_t>(good.size());
  for (const size_t length : {0, 1, 100}) {
    const std::string third = TfRecordBytes({std::string(length, 'x')});
    for (size_t bytes = 1; bytes < third.size(); ++bytes) {
      const std::string cut = good + third.substr(0, bytes);
      const ReadRecords read = ReadTfRecords(cut);
      EXPECT_EQ(KindOf(read.error), ErrorKind::kData) << bytes;
      EXPECT_THAT(PayloadsOf(read), ElementsAre("one", "two")) << bytes;
      EXPECT_EQ(read.failed, at) << bytes;
      EXPECT_THAT(ToStd(read.error.message()),
                  HasSubstr(Cat("ends at byte ", cut.size(), ", within the record at byte ", at)));
      for (const std::string& file : {cut, Compress(Compression::kGzip, cut)}) {
        const ReadRecords skipped = ReadTfRecords(file, OnDamage::kSkip);
        EXPECT_TRUE(skipped.error.ok()) << skipped.error;
        EXPECT_THAT(PayloadsOf(skipped), ElementsAre("one", "two"));
        ASSERT_EQ(skipped.lost.size(), 1u);
        EXPECT_EQ(skipped.lost[0].offset, at);
        EXPECT_EQ(skipped.lost[0].bytes, static_cast<int64_t>(bytes));
      }
    }
  }
}

TEST(TfRecordFormat, IsAnErrorWhereAHeadIsNotOne) {
  const std::string good = TfRecordBytes({"one", "two"});
  for (size_t byte = good.size() / 2; byte < good.size() / 2 + TfRecordFrame::kHeadBytes; ++byte) {
    std::string damaged = good;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
    for (const OnDamage on_damage : {OnDamage::kFail, OnDamage::kSkip}) {
      const ReadRecords read = ReadTfRecords(damaged, on_damage);
      EXPECT_THAT(PayloadsOf(read), ElementsAre("one"));
      EXPECT_EQ(KindOf(read.error), ErrorKind::kData);
      EXPECT_EQ(read.failed, 19);
      EXPECT_THAT(ToStd(read.error.message()), HasSubstr("no record begins at byte 19"));
    }
  }
}

TEST(TfRecordFormat, LeavesOutRecordsOfAnotherChecksum) {
  std::string bytes = TfRecordBytes({"one", "two", "three", "four"});
  bytes[19 + 13] ^= 1;      // of "two"
  bytes[38 + 12 + 5] ^= 1;  // the checksum of "three"
  EXPECT_THAT(ReadGoodTfRecords(bytes), ElementsAre("one", "tvo", "three", "four")) << "their rows check them";
  for (const std::string& file : {bytes, Compress(Compression::kZlib, bytes)}) {
    const ReadRecords read = ReadTfRecords(file, OnDamage::kSkip);
    EXPECT_TRUE(read.error.ok()) << read.error;
    EXPECT_THAT(PayloadsOf(read), ElementsAre("one", "four"));
    EXPECT_THAT(StretchesOf(read.lost), ElementsAre(std::pair<int64_t, int64_t>(19, 59)));
    EXPECT_THAT(read.lost[0].reason, HasSubstr("CRC is not that of its 3 bytes"));
  }
}

TEST(TfRecordFormat, TakesNoMemoryForALengthAlone) {
  const auto claiming = [](uint64_t length) {
    std::string bytes(reinterpret_cast<const char*>(&length), sizeof(length));
    const uint32_t crc = MaskedCrc32c(&length, sizeof(length));
    bytes.append(reinterpret_cast<const char*>(&crc), sizeof(crc));
    return bytes + "and no more";
  };
  const OneFile file(claiming(TfRecordFrame::kLongest));
  const CountedReads counted(&file);
  const ReadRecords read = ReadSplit(TfRecordFormat(), counted, "a", {}, 0, 4096);
  EXPECT_THAT(ToStd(read.error.message()), HasSubstr("within the record at byte 0"));
  EXPECT_LE(counted.bytes(), 100);
  for (const uint64_t length : {TfRecordFrame::kLongest + 1, uint64_t{1} << 63, ~uint64_t{0}}) {
    const ReadRecords longer = ReadTfRecords(claiming(length));
    EXPECT_THAT(ToStd(longer.error.message()), HasSubstr(Cat("has ", length, " bytes; at most 2147483647 are read")));
  }
  const ReadRecords compressed = ReadTfRecords(Compress(Compression::kGzip, claiming(uint64_t{1} << 30)));
  EXPECT_THAT(ToStd(compressed.error.message()), HasSubstr("at most 268435456 are read of a compressed file"));
}

TEST(TfRecordFormat, SaysWhereACompressedFileIsCutOff) {
  const std::string plain = TfRecordBytes({"one", "two", "three"});
  const std::string gzip = Compress(Compression::kGzip, plain);
  for (const OnDamage on_damage : {OnDamage::kFail, OnDamage::kSkip}) {
    const ReadRecords read = ReadTfRecords(gzip.substr(0, gzip.size() - 4), on_damage);
    EXPECT_THAT(PayloadsOf(read), ElementsAre("one", "two", "three"));
    EXPECT_EQ(KindOf(read.error), ErrorKind::kData);
    EXPECT_THAT(ToStd(read.error.message()), HasSubstr("within its gzip data"));
  }
}

TEST(TfRecordFormat, IsOneSplitAFile) {
  const OneFile file(TfRecordBytes({"one"}));
  EXPECT_TRUE(*TfRecordFormat().IsOneSplit(file, "a"));
}

TEST(TfRecordFormat, PassesOnFaultsOfTheDisk) {
  const OneFile file(TfRecordBytes({"one", "two"}));
  for (const char* failing : {"Open", "ReadAt", "Size"}) {
    const FaultyFileSystem files(&file, [&](std::string_view call, const std::string&) {
      return call == failing ? ResourceError("as told") : absl::OkStatus();
    });
    for (const int64_t from : {0, 19}) {
      for (const OnDamage on_damage : {OnDamage::kFail, OnDamage::kSkip}) {
        const ReadRecords read = ReadSplit(TfRecordFormat(on_damage), files, "a", {}, from, 4096);
        EXPECT_EQ(KindOf(read.error), ErrorKind::kResource) << failing;
      }
    }
  }
}

}  // namespace
}  // namespace headrace
