#include "io/formats/fixed/fixed_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
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

TEST(FixedTable, NumbersTheRowsOfItsRuns) {
  const TemporaryFolder folder;
  folder.Write("a", "hhabcd");
  folder.Write("b", "hh");
  folder.Write("c", "hhef");
  const auto made = MakeFixedTable(
      *LocalFileSystem(), {{{2, 2, {Byte("x", 0), Byte("y", 1)}, {folder / "a", folder / "b", folder / "c"}}}});
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
  EXPECT_THAT(DescribeError(wrong), HasSubstr("cut off"));
}

TEST(FixedTable, RefusesFieldsAndFilesThatDoNotFit) {
  const TemporaryFolder folder;
  folder.Write("a", "hhabc");
  const auto refused = [&](const FixedLayout& layout) {
    const auto made = MakeFixedTable(*LocalFileSystem(), layout);
    EXPECT_FALSE(made.ok());
    return DescribeError(made.status());
  };
  EXPECT_THAT(refused({{{2, 2, {Byte("x", 0)}, {folder / "a"}}}}), HasSubstr("1 bytes are left"));
  EXPECT_THAT(refused({{{2, 1, {Byte("x", 1)}, {folder / "a"}}}}), HasSubstr("reaches over"));
  EXPECT_THAT(refused({{{2, 1, {Byte("x", 0), Byte("x", 0)}, {folder / "a"}}}}), HasSubstr("comes twice"));
  EXPECT_THAT(refused({{{2, 1, {Byte("x", 0)}, {folder / "a"}}, {4, 1, {Byte("y", 0)}, {folder / "a"}}}}),
              HasSubstr("has 1 rows"));
}

}  // namespace
}  // namespace headrace
