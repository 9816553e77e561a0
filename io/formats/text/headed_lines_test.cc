#include "io/formats/text/headed_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/testing/read_records.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

constexpr size_t kBlock = 4096;

HeadedLines Headed(std::string header = "a,b") { return {std::move(header), "first.csv"}; }

// The first byte of each line, and the line.
using HeadedLinesLines = std::vector<std::pair<int64_t, std::string>>;

HeadedLinesLines ReadHeadedLines(const std::string& bytes, const std::string& header = "a,b") {
  const ReadRecords read = ReadEveryWay(Headed(header), bytes);
  EXPECT_TRUE(read.error.ok()) << read.error;
  HeadedLinesLines lines;
  for (const ReadRecord& record : read.records) lines.emplace_back(record.offset, record.content);
  return lines;
}

TEST(HeadedLines, LeavesOutTheHeaderAlone) {
  EXPECT_EQ(ReadHeadedLines("a,b\n1\n\na,b\n"), (HeadedLinesLines{{4, "1"}, {6, ""}, {7, "a,b"}}));
  EXPECT_EQ(ReadHeadedLines("a,b\r\n1\r\n2"), (HeadedLinesLines{{5, "1"}, {8, "2"}}));
  EXPECT_EQ(ReadHeadedLines("\xEF\xBB\xBF"
                            "a,b\n1\n"),
            (HeadedLinesLines{{7, "1"}}));
  EXPECT_EQ(ReadHeadedLines("\n1\n", ""), (HeadedLinesLines{{1, "1"}}));
  for (const char* none : {"", "a,b", "a,b\n", "a,b\r", "a,b\r\n"})
    EXPECT_EQ(ReadHeadedLines(none), HeadedLinesLines()) << none;
}

TEST(HeadedLines, AreFoundBehindHeadersOfAnyLength) {
  for (const size_t length : {kBlock - 1, kBlock, 3 * kBlock}) {
    const std::string header(length, 'x');
    EXPECT_EQ(ReadHeadedLines(header + "\n1\n2\n", header).size(), 2u);
    EXPECT_EQ(*HeadedLines::HeaderOf(OneFile(header + "\n1\n"), "f"), header);
  }
}

TEST(HeadedLines, FindTheHeaderOfAFile) {
  EXPECT_EQ(*HeadedLines::HeaderOf(OneFile(""), "f"), std::nullopt);
  EXPECT_EQ(*HeadedLines::HeaderOf(OneFile("\n1"), "f"), "");
  EXPECT_EQ(*HeadedLines::HeaderOf(OneFile("\xEF\xBB\xBF"
                                           "a,b\r\n1"),
                                   "f"),
            "a,b");
}

TEST(HeadedLines, RefuseAFileWithAnotherHeaderFromAnySplit) {
  for (const char* other : {"a,c", "a,", "a,b,c", "", "a,b\r1", " a,b"}) {
    const OneFile file(Cat(other, "\n1\n2\n3\n"));
    for (const Split split : {Split{}, Split{0, 2}, Split{5, 7}, Split{6, Split::kFileEnd}}) {
      const ReadRecords read = ReadSplit(Headed(), file, "other.csv", split, split.begin, kBlock);
      EXPECT_TRUE(read.records.empty());
      EXPECT_EQ(KindOf(read.error), ErrorKind::kData);
      EXPECT_TRUE(IsBeyondRow(read.error)) << "all rows of the file are in doubt";
      EXPECT_EQ(GetErrorField(read.error, ErrorField::kFile), "other.csv, byte 0");
      EXPECT_THAT(read.error.message(), HasSubstr("the header of first.csv"));
    }
  }
}

TEST(HeadedLines, FindTheHeaderOfACompressedFile) {
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    const auto compressed = [&](const std::string& text) { return OneFile(Compress(compression, text)); };
    EXPECT_EQ(*HeadedLines::HeaderOf(compressed(""), "f"), std::nullopt);
    EXPECT_EQ(*HeadedLines::HeaderOf(compressed("a,b\r\n1"), "f"), "a,b");
    const std::string longest(3 * kBlock, 'x');
    EXPECT_EQ(*HeadedLines::HeaderOf(compressed(longest + "\n1\n"), "f"), longest);
    // From the first line on, and from a later one.
    for (const int64_t from : {0, 6}) {
      const ReadRecords read = ReadSplit(Headed(), compressed("a,b\n1\n2\n"), "f", {}, from, kBlock);
      EXPECT_TRUE(read.error.ok()) << read.error;
      ASSERT_EQ(read.records.size(), from == 0 ? 2u : 1u);
      EXPECT_EQ(read.records.back().content, "2");
      const ReadRecords other = ReadSplit(Headed(), compressed("a,c\n1\n2\n"), "f", {}, from, kBlock);
      EXPECT_TRUE(IsBeyondRow(other.error));
      EXPECT_THAT(other.error.message(), HasSubstr("the header of first.csv"));
    }
    EXPECT_TRUE(ReadSplit(Headed(), compressed(""), "f", {}, 0, kBlock).error.ok());
  }
}

TEST(HeadedLines, CostAReadOfTheHeadersLength) {
  std::string bytes = "a,b\n";
  while (bytes.size() < 100'000) bytes += "1,2\n";
  const OneFile file(bytes);
  const auto cost = [&](const Format& format, const Split& split) {
    const CountedReads files(&file);
    EXPECT_TRUE(ReadSplit(format, files, "f", split, split.begin, kBlock).error.ok());
    return files.bytes();
  };
  const Split later{50'000, 60'000};
  EXPECT_EQ(cost(Headed(), {0, 10'000}), cost(LineFormat(), {0, 10'000}));
  EXPECT_EQ(cost(Headed(), later), cost(LineFormat(), later) + 8);
}

TEST(HeadedLines, TellWhatTheFirstBytesCouldNotBeReadFor) {
  const OneFile file("a,b\n1\n2\n3\n");
  const FaultyFileSystem files(&file, [](std::string_view call, const std::string&) {
    return call == "ReadAt" ? DataError("the disk") : absl::OkStatus();
  });
  EXPECT_THAT(ReadSplit(Headed(), files, "f", {6, 8}, 6, kBlock).error.message(), HasSubstr("the disk"));
  EXPECT_THAT(HeadedLines::HeaderOf(files, "f").status().message(), HasSubstr("the disk"));
}

}  // namespace
}  // namespace headrace
