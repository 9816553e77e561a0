#include "io/formats/fixed/fixed_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/fixed/fixed_rows.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

FixedField Byte(std::string name, int64_t offset) {
  return {std::move(name), FixedStorage::kNumber, DType::kUInt8, {}, offset, 1};
}

// Rows of two bytes, after a head of two in each file.
absl::StatusOr<FixedTable> TableOf(const TemporaryFolder& folder, std::vector<uint64_t> rows_of_files) {
  FixedTable::Part part{2, {Byte("x", 0), Byte("y", 1)}};
  std::vector<FixedTable::File> files;
  for (const uint64_t rows : rows_of_files) {
    part.Add({.file = files.size(), .begin = 2, .rows = rows});
    files.push_back(
        {folder / std::string(1, static_cast<char>('a' + files.size())), 2 + 2 * static_cast<int64_t>(rows)});
  }
  return FixedTable::Of(std::move(files), {std::move(part)}, {"x"});
}

TEST(FixedTable, NumbersTheRowsOfItsRuns) {
  const TemporaryFolder folder;
  folder.Write("a", "hhabcd");
  folder.Write("b", "hh");
  folder.Write("c", "hhef");
  const auto made = TableOf(folder, {2, 0, 1});
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(made->size(), 3u);
  const FixedRows reader(LocalFileSystem(), std::make_shared<const FixedTable>(*made));
  std::vector<RandomAccessReader::Content> contents(3);
  absl::Status wrong;
  ASSERT_EQ(reader.Read({2, 0, 1}, absl::MakeSpan(contents), wrong), 3u) << wrong;
  EXPECT_EQ(contents[0].bytes, "ef");
  EXPECT_EQ(contents[2].bytes, "cd");
  EXPECT_EQ(reader.LocationOf(2).file, 2u);
  EXPECT_EQ(reader.LocationOf(1).offset, 4);
  // A file that was cut off meanwhile.
  folder.Write("c", "hhe");
  const FixedRows later(LocalFileSystem(), std::make_shared<const FixedTable>(*made));
  EXPECT_EQ(later.Read({0, 2}, absl::MakeSpan(contents), wrong), 1u);
  EXPECT_THAT(DescribeError(wrong), HasSubstr("the row ends at byte 3: the file was cut off"));
}

TEST(FixedTable, RefusesPartsOfOtherNumbersOfRows) {
  FixedTable::Part one{1, {Byte("x", 0)}};
  one.Add({.file = 0, .begin = 0, .rows = 3});
  FixedTable::Part other{1, {Byte("y", 0)}};
  other.Add({.file = 0, .begin = 3, .rows = 1});
  const auto refused = FixedTable::Of({{"a", 4}}, {one, other}, {"x", "y"});
  EXPECT_THAT(DescribeError(refused.status()), HasSubstr("y has 1 rows, and x has 3"));
}

}  // namespace
}  // namespace headrace
