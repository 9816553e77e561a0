#include "io/formats/mindrecord/mind_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/one_file.h"
#include "io/formats/mindrecord/testing/mind_bytes.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string RefusalOfFile(const std::string& bytes) {
  const absl::StatusOr<MindFile> read = ReadMindFile(OneFile(bytes), "a.mindrecord");
  return read.ok() ? "" : DescribeError(read.status());
}

std::string RefusalOfWalk(const std::string& bytes) {
  const OneFile files(bytes);
  const absl::StatusOr<MindFile> read = ReadMindFile(files, "a");
  if (!read.ok()) return DescribeError(read.status());
  return DescribeError(WalkMindRows(**files.Open("a"), read->header).status());
}

std::vector<MindBytesRow> SomeRows(int count) {
  std::vector<MindBytesRow> rows;
  for (int i = 0; i < count; ++i) rows.push_back(MindLabelRow(i, std::string(static_cast<size_t>(i), 'x')));
  return rows;
}

TEST(MindFile, SaysWhatAFileIs) {
  const std::string whole = MindFileBytes(SomeRows(3));
  EXPECT_EQ(RefusalOfFile(whole), "");
  EXPECT_THAT(RefusalOfFile(""), AllOf(HasSubstr("the file is empty"), HasSubstr("a.mindrecord")));
  EXPECT_THAT(RefusalOfFile("abc"), HasSubstr("only 3 bytes"));
  EXPECT_THAT(RefusalOfFile(std::string(5000, '\0')), HasSubstr("was never committed"));
  EXPECT_THAT(RefusalOfFile("a text, and no MindRecord file"), HasSubstr("not a MindRecord file"));
  EXPECT_THAT(RefusalOfFile("SQLite format 3 and so on"), HasSubstr("name the file without .db"));
  EXPECT_THAT(RefusalOfFile(std::string("\x04\0\0\0 some block AES-GCMENCRYPT", 30)),
              HasSubstr("is encrypted; decrypt it"));
  EXPECT_THAT(RefusalOfFile(MindHeadBytes("{\"x\":")), HasSubstr("not JSON"));
  std::string encrypted = whole;
  encrypted[8] = 'E';
  EXPECT_THAT(RefusalOfFile(encrypted + "ENCRYPT"), HasSubstr("is encrypted"));
  EXPECT_EQ(RefusalOfFile(whole + "ENCRYPT"), "") << "bytes after the last page never matter";
  EXPECT_EQ(RefusalOfFile(MindFileBytes({})), "") << "without rows a file may end with its header";
}

TEST(MindFile, IsNotCutOff) {
  const std::string whole = MindFileBytes(SomeRows(3));
  EXPECT_THAT(RefusalOfFile(whole.substr(0, 100)), HasSubstr("is cut off"));
  const std::string cut = whole.substr(0, whole.size() - 1);
  EXPECT_THAT(RefusalOfFile(cut),
              HasSubstr(Cat("the file is cut off: page 1 reaches byte ", whole.size(), " of ", cut.size())));
  EXPECT_THAT(RefusalOfFile(whole.substr(0, 2050)), HasSubstr("page 0 reaches byte 2075 of 2050"));
}

TEST(MindFile, HasAHeaderInFrontOfItsPages) {
  MindBytesOptions options;
  std::string bytes = MindFileBytes(SomeRows(1), options);
  const size_t at = bytes.find("2048");
  bytes.replace(at, 4, "100 ");
  EXPECT_THAT(RefusalOfFile(bytes), AllOf(HasSubstr("the header reaches byte"), HasSubstr("header_size is 100")));
}

TEST(MindFile, FindsRowsByTheirLengths) {
  MindBytesOptions options;
  options.rows_in_page = 2;
  const std::string bytes = MindFileBytes(SomeRows(3), options);
  const OneFile files(bytes);
  const absl::StatusOr<MindFile> read = ReadMindFile(files, "a");
  ASSERT_TRUE(read.ok()) << read.status();
  const absl::StatusOr<ItemIndex> index = WalkMindRows(**files.Open("a"), read->header);
  ASSERT_TRUE(index.ok()) << index.status();
  ASSERT_EQ(index->parts.size(), 2u);
  const int64_t scalars = 2048 + 2 * 4096;
  const auto row = static_cast<int64_t>(8 + MindLabelRow(0, "").scalars.size());
  EXPECT_THAT(index->parts[0].begins, ElementsAre(scalars, scalars + row, scalars + 2 * row));
  EXPECT_THAT(index->parts[0].ends, ElementsAre(scalars + row, scalars + 2 * row, scalars + 3 * row));
  EXPECT_THAT(index->parts[1].begins, ElementsAre(2048, 2056, 2048 + 4096));
  EXPECT_THAT(index->parts[1].ends, ElementsAre(2056, 2065, 2048 + 4096 + 10));
}

TEST(MindFile, ReadsLittleOfLongRows) {
  MindBytesOptions options;
  options.page_size = 4 << 20;
  std::vector<MindBytesRow> rows;
  for (int i = 0; i < 20; ++i) rows.push_back(MindLabelRow(i, std::string(100'000, 'x')));
  const OneFile file(MindFileBytes(rows, options));
  const CountedReads files(&file);
  const absl::StatusOr<MindFile> read = ReadMindFile(files, "a");
  ASSERT_TRUE(read.ok()) << read.status();
  const int64_t before = files.bytes();
  ASSERT_TRUE(WalkMindRows(**files.Open("a"), read->header).ok());
  EXPECT_LE(files.bytes() - before, 20 * 8 + 1000);
}

TEST(MindFile, NamesALengthThatIsWrong) {
  const std::string whole = MindFileBytes(SomeRows(3));
  std::string blob = whole;
  blob[2048 + 8] = '\x50';
  EXPECT_THAT(RefusalOfWalk(blob),
              HasSubstr("byte 2056: the blobs of row 1 are damaged: they claim 80 bytes, and 11 are left in page 0"));
  std::string scalars = whole;
  scalars[2048 + 4096] = '\0';
  EXPECT_THAT(RefusalOfWalk(scalars), HasSubstr("byte 6144: the scalars of row 0 are damaged: they claim 0 bytes"))
      << "a hole in a file";
  std::string long_row = whole;
  long_row[2048 + 4096 + 7] = '\xff';
  EXPECT_THAT(RefusalOfWalk(long_row), HasSubstr("the scalars of row 0 are damaged"));
}

}  // namespace
}  // namespace headrace
