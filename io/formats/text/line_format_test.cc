#include "io/formats/text/line_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/delayed_file_system.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/memory_store.h"
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/split_table.h"
#include "io/formats/testing/read_records.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

// The first byte of each line, and the line.
using LineFormatLines = std::vector<std::pair<int64_t, std::string>>;

LineFormatLines LinesOf(const ReadRecords& read) {
  EXPECT_TRUE(read.error.ok()) << read.error;
  LineFormatLines lines;
  for (const ReadRecord& record : read.records) lines.emplace_back(record.offset, record.content);
  return lines;
}

LineFormatLines ReadLineFormat(const std::string& bytes) { return LinesOf(ReadEveryWay(LineFormat(), bytes)); }

TEST(LineFormat, GivesLinesWithoutTheirEnds) {
  EXPECT_EQ(ReadLineFormat(""), (LineFormatLines{}));
  EXPECT_EQ(ReadLineFormat("\n"), (LineFormatLines{{0, ""}}));
  EXPECT_EQ(ReadLineFormat("a\n\nbc\r\n"), (LineFormatLines{{0, "a"}, {2, ""}, {3, "bc"}}));
  EXPECT_EQ(ReadLineFormat("a\nno end"), (LineFormatLines{{0, "a"}, {2, "no end"}}));
  EXPECT_EQ(ReadLineFormat("a\r"), (LineFormatLines{{0, "a"}}));
}

TEST(LineFormat, LeavesOutAByteOrderMarkAtTheStartAlone) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(ReadLineFormat(mark + "a\n" + mark + "b\n"), (LineFormatLines{{0, "a"}, {5, mark + "b"}}));
  EXPECT_EQ(ReadLineFormat(mark), (LineFormatLines{})) << "an empty file";
  EXPECT_EQ(ReadLineFormat(mark + "\n"), (LineFormatLines{{0, ""}}));
  EXPECT_EQ(ReadLineFormat(mark + "a"), (LineFormatLines{{0, "a"}}));
  EXPECT_EQ(ReadLineFormat("\xEF\xBB"), (LineFormatLines{{0, "\xEF\xBB"}}));
}

// Of a whole file, whatever the size of blocks, and from each line on.
LineFormatLines ReadQuoted(const std::string& bytes) {
  const LineFormat format(LineFormat::kLongest, '"');
  const OneFile file(bytes);
  const ReadRecords whole = ReadSplit(format, file, "f", Split(), 0, 1 << 16);
  for (const size_t block_bytes : {1, 3, 7, 64}) {
    EXPECT_EQ(ReadSplit(format, file, "f", Split(), 0, block_bytes).records, whole.records) << bytes;
    for (size_t i = 0; i < whole.records.size(); ++i) {
      const int64_t from = whole.records[i].after;
      EXPECT_EQ(ReadSplit(format, file, "f", Split(), from, block_bytes).records.size(), whole.records.size() - i - 1);
    }
  }
  return LinesOf(whole);
}

TEST(LineFormat, GoesOnWithinQuotes) {
  EXPECT_EQ(ReadQuoted("a,\"b\nc\"\r\nd\n"), (LineFormatLines{{0, "a,\"b\nc\""}, {9, "d"}}));
  EXPECT_EQ(ReadQuoted("\"a\r\n\"\"\n\"\n\n\"\""), (LineFormatLines{{0, "\"a\r\n\"\"\n\""}, {9, ""}, {10, "\"\""}}));
  EXPECT_EQ(ReadQuoted("a\n\"b\nc\n"), (LineFormatLines{{0, "a"}, {2, "\"b\nc\n"}})) << "quotes that are never closed";
  std::mt19937 random(5);
  for (int i = 0; i < 60; ++i) {
    std::string bytes, line;
    LineFormatLines lines;
    while (bytes.size() < 300) {
      const int64_t begin = static_cast<int64_t>(bytes.size());
      for (size_t fields = 1 + random() % 4; fields > 0; --fields) {
        line += random() % 2 == 0 ? std::string(random() % 90, 'x') : Cat("\"", std::string(random() % 9, '\n'), "\"");
        line += ',';
      }
      lines.emplace_back(begin, line);
      bytes += std::exchange(line, "") + "\r\n";
    }
    EXPECT_EQ(ReadQuoted(bytes), lines);
  }
}

TEST(LineFormat, GivesTheSameLinesWhateverTheSizeOfSplitsAndBlocks) {
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    std::string bytes;
    const size_t size = random() % 400;
    while (bytes.size() < size) bytes += "ab\r\n\n"[random() % 5];
    ReadLineFormat(bytes);
  }
  std::string lengths;
  for (int length = 0; length < 200; ++length) lengths += std::string(static_cast<size_t>(length), 'x') + "\n";
  EXPECT_EQ(ReadLineFormat(lengths).size(), 200u);
}

TEST(LineFormat, ReadsLinesOnBothSidesOfEveryBoundaryOfItsBlocks) {
  constexpr size_t kBlock = 4096;
  for (const size_t bytes : {kBlock - 1, kBlock, kBlock + 1, 2 * kBlock - 1, 2 * kBlock, 9 * kBlock}) {
    const std::string line(bytes - 1, 'a');
    const auto at = static_cast<int64_t>(bytes);
    for (const std::string end : {"\n", "\r\n"}) {
      const OneFile file(line + end + "b");
      EXPECT_EQ(LinesOf(ReadSplit(LineFormat(), file, "a", {}, 0, kBlock)),
                (LineFormatLines{{0, line}, {at - 1 + static_cast<int64_t>(end.size()), "b"}}))
          << bytes;
    }
  }
}

TEST(LineFormat, RefusesALineThatIsTooLongWhereverABlockEnds) {
  const LineFormat format(5);
  for (const std::string after : {"\nb\n", "", "\n"}) {
    const ReadRecords read = ReadEveryWay(format, "one\ntwo\n123456" + after);
    EXPECT_EQ(KindOf(read.error), ErrorKind::kData);
    EXPECT_THAT(read.error.message(), HasSubstr("longer than 5 bytes"));
    EXPECT_EQ(read.records.size(), 2u);
    EXPECT_EQ(read.failed, 8);
  }
  EXPECT_TRUE(ReadEveryWay(format, "12345\n12345").error.ok());
}

TEST(LineFormat, RefusesAFileThatEndsBeforeTheByteToGoOnFrom) {
  const ReadRecords read = ReadSplit(LineFormat(), OneFile("abc"), "a.txt", {}, 4, 64);
  EXPECT_EQ(KindOf(read.error), ErrorKind::kData);
  EXPECT_THAT(read.error.message(), HasSubstr("a.txt has 3 bytes"));
}

TEST(LineFormat, FindsNothingInSplitsThatAFileNoLongerHas) {
  const OneFile file("a\nb\n");
  EXPECT_TRUE(LinesOf(ReadSplit(LineFormat(), file, "a.txt", {10, 20}, 10, 64)).empty());
  EXPECT_TRUE(LinesOf(ReadSplit(LineFormat(), file, "a.txt", {4, 20}, 4, 64)).empty());
}

TEST(LineFormat, RefusesAFileThatChangesWhileItIsRead) {
  const TemporaryFolder folder;
  for (const std::string after : {"short\n", "a line longer than what was there\nand another\n"}) {
    const std::string path = folder.Write("a.txt", "what was there\n");
    const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
      if (call == "ReadAt") folder.Write("a.txt", after);
      return absl::OkStatus();
    });
    EXPECT_EQ(KindOf(ReadSplit(LineFormat(), files, path, {}, 0, 4096).error), ErrorKind::kData) << after;
  }
}

TEST(LineFormat, PassesOnWhatReadingFailsOf) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a.txt", "a\n");
  const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
    return call == "ReadAt" ? ResourceError("no more") : absl::OkStatus();
  });
  EXPECT_EQ(KindOf(ReadSplit(LineFormat(), files, path, {}, 0, 4096).error), ErrorKind::kResource);
}

// While the lines of a block are in use, the next one is on its way.
TEST(LineFormat, AsksForTheNextBlockBeforeItNeedsIt) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += "0123456\n";
  const OneFile one(bytes);
  const DelayedFileSystem files(&one);
  const LineFormat format;
  const auto reader = format.Open(files, "a.txt", {}, 0, 4096);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(files.outstanding(), 1u) << "the first one since it is open";
  files.CompleteOne();
  RecordBlock block;
  ASSERT_TRUE((*reader)->Next(block).ok());
  EXPECT_EQ(block.records.size(), 512u);
  EXPECT_EQ(files.outstanding(), 1u);
  files.CompleteOne();
  ASSERT_TRUE((*reader)->Next(block).ok());
  EXPECT_EQ(block.records.size(), 488u);
}

TEST(LineFormat, AsksForSeveralBlocksOfAFarFile) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) Append(bytes, 1'000'000 + i, "\n");
  MemoryStore store({.completes = MemoryStore::Completes::kOnDemand});
  store.Put("mem://b/a.txt", bytes);
  const LineFormat format;
  const auto reader = format.Open(store, "mem://b/a.txt", {}, 0, 4096);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(store.outstanding(), static_cast<size_t>(RecordReader::kFarBlocksAhead));
  std::string read;
  RecordBlock block;
  do {
    // The store answers in any order.
    for (size_t which = 7; store.CompleteOne(which); ++which) {
    }
    ASSERT_TRUE((*reader)->Next(block).ok());
    for (size_t i = 0; i < block.records.size(); ++i) Append(read, block.content(i), "\n");
  } while (!block.records.empty());
  EXPECT_EQ(read, bytes);
  EXPECT_EQ(store.given(), static_cast<int64_t>(bytes.size()));
}

TEST(LineFormat, ReadsLinesOfAFarFileThatAreLongerThanItsBlocks) {
  std::string bytes;
  for (int i = 0; i < 20; ++i) Append(bytes, i, std::string(static_cast<size_t>(i) * 5000, 'x'), "\n");
  MemoryStore store;
  store.Put("mem://b/a.txt", bytes);
  const OneFile local(bytes);
  const LineFormat format;
  for (const size_t block : {512, 4096, 100'000}) {
    EXPECT_EQ(ReadSplit(format, store, "mem://b/a.txt", {}, 0, block).records,
              ReadSplit(format, local, "a.txt", {}, 0, block).records);
    const Split split{100'000, 300'000};
    EXPECT_EQ(ReadSplit(format, store, "mem://b/a.txt", split, split.begin, block).records,
              ReadSplit(format, local, "a.txt", split, split.begin, block).records);
  }
}

TEST(LineFormat, RefusesAFarFileThatChangesWhileItIsRead) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) Append(bytes, 1'000'000 + i, "\n");
  MemoryStore store;
  store.Put("mem://b/a.txt", bytes);
  const LineFormat format;
  const auto reader = format.Open(store, "mem://b/a.txt", {}, 0, 1024);
  ASSERT_TRUE(reader.ok());
  store.Put("mem://b/a.txt", std::string(bytes.size(), 'y'));
  RecordBlock block;
  absl::Status status;
  while (status.ok()) {
    status = (*reader)->Next(block);
    ASSERT_FALSE(status.ok() && block.records.empty());
    for (size_t i = 0; i < block.records.size(); ++i) ASSERT_EQ(block.content(i).substr(0, 4), "1000");
  }
  EXPECT_THAT(DescribeError(status), HasSubstr("mem://b/a.txt"));
}

// ---- compressed files ----

constexpr Compression kCompressions[] = {Compression::kGzip, Compression::kZstd};

// In two members or frames.
std::string InTwo(Compression compression, const std::string& text) {
  const size_t half = text.size() / 2;
  return Compress(compression, text.substr(0, half)) + Compress(compression, text.substr(half));
}

TEST(LineFormat, GivesTheLinesThatACompressedFileHolds) {
  std::string large;
  for (int i = 0; i < 30'000; ++i)
    Append(large, i, std::string(static_cast<size_t>(i % 70), 'x'), i % 3 ? "\n" : "\r\n");
  const std::string texts[] = {
      "", "\n", "a\n\nbc\r\nno end", "\xEF\xBB\xBF", "\xEF\xBB\xBFone\n", large, std::string(900'000, 'y') + "\nz"};
  for (const std::string& text : texts) {
    const ReadRecords plain = ReadSplit(LineFormat(), OneFile(text), "a", {}, 0, 1 << 20);
    for (const Compression compression : kCompressions) {
      const OneFile file(InTwo(compression, text));
      for (const size_t block : {61, 4096, 256 << 10}) {
        if (text.size() / block > 5000) continue;
        const ReadRecords read = ReadSplit(LineFormat(), file, "a", {}, 0, block);
        EXPECT_TRUE(read.error.ok()) << read.error;
        EXPECT_TRUE(read.records == plain.records) << text.substr(0, 20) << ", " << block;
      }
      // From any line on.
      for (size_t i = 0; i < plain.records.size(); i += 1 + plain.records.size() / 6) {
        const ReadRecords rest = ReadSplit(LineFormat(), file, "a", {}, plain.records[i].after, 4096);
        EXPECT_TRUE(rest.error.ok()) << rest.error;
        EXPECT_TRUE(std::equal(rest.records.begin(), rest.records.end(),
                               plain.records.begin() + static_cast<long>(i) + 1, plain.records.end()))
            << i;
      }
    }
  }
}

TEST(LineFormat, SaysThatACompressedFileIsOneSplit) {
  for (const Compression compression : kCompressions) {
    EXPECT_TRUE(*LineFormat().IsOneSplit(OneFile(Compress(compression, "a\n")), "a"));
  }
  EXPECT_FALSE(*LineFormat().IsOneSplit(OneFile("a\n"), "a"));
  EXPECT_FALSE(*LineFormat().IsOneSplit(OneFile(""), "a"));
}

TEST(LineFormat, GoesOnWithinQuotesOfACompressedFile) {
  const LineFormat format(LineFormat::kLongest, '"');
  const OneFile file(InTwo(Compression::kGzip, "a,\"b\nc\"\r\nd\n"));
  EXPECT_EQ(LinesOf(ReadSplit(format, file, "f", {}, 0, 3)), (LineFormatLines{{0, "a,\"b\nc\""}, {9, "d"}}));
}

TEST(LineFormat, GivesTheLinesBeforeDamageOfACompressedFile) {
  const OneFile file(Compress(Compression::kGzip, "one\ntwo\nthr") + "rest");
  for (const size_t block : {1, 5, 4096}) {
    const ReadRecords read = ReadSplit(LineFormat(), file, "f", {}, 0, block);
    ASSERT_EQ(read.records.size(), 2u);
    EXPECT_EQ(KindOf(read.error), ErrorKind::kData);
    EXPECT_THAT(read.error.message(), HasSubstr("gzip data are damaged"));
    EXPECT_EQ(read.failed, 8);
  }
}

// What a few bytes hold is bounded by the longest line.
TEST(LineFormat, RefusesALineOfACompressedFileThatIsTooLong) {
  const LineFormat format(100'000);
  for (const Compression compression : kCompressions) {
    const OneFile file(Compress(compression, std::string(4'000'000, 'x')));
    const ReadRecords read = ReadSplit(format, file, "f", {}, 0, 4096);
    EXPECT_TRUE(read.records.empty());
    EXPECT_THAT(read.error.message(), HasSubstr("longer than 100000 bytes"));
  }
}

TEST(LineFormat, AsksForACompressedFileWhenItIsOpened) {
  const OneFile one(Compress(Compression::kZstd, "a\nb\n"));
  const DelayedFileSystem files(&one);
  const LineFormat format;
  const auto reader = format.Open(files, "a.txt", {}, 0, 4096);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(files.outstanding(), 1u);
  EXPECT_TRUE(files.CompleteOne());
}

TEST(LineFormat, ReadsOfASplitLittleMoreThanItsBytes) {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += "0123456789abcde\n";
  const OneFile one(bytes);
  const CountedReads counted(&one);
  const Split split{400'000, 800'000};
  EXPECT_EQ(ReadSplit(LineFormat(), counted, "a.txt", split, split.begin, 64 << 10).records.size(), 25'000u);
  EXPECT_LE(counted.bytes(), 400'000 + 8192);
}

}  // namespace
}  // namespace headrace
