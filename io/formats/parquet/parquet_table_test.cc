#include "io/formats/parquet/parquet_table.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"

namespace headrace {
namespace {

TEST(ParquetTable, NumbersRowsInTheOrderOfFilesAndRowGroups) {
  ParquetTable table;
  ASSERT_TRUE(table.Add("a", 100, {3, 2}).ok());
  ASSERT_TRUE(table.Add("b", 50, {4}).ok());
  EXPECT_EQ(table.size(), 9u);
  ASSERT_EQ(table.groups().size(), 3u);
  EXPECT_EQ(table.GroupOf(0), 0u);
  EXPECT_EQ(table.GroupOf(2), 0u);
  EXPECT_EQ(table.GroupOf(3), 1u);
  EXPECT_EQ(table.GroupOf(5), 2u);
  EXPECT_EQ(table.GroupOf(8), 2u);
  EXPECT_EQ(table.groups()[2].file, 1u);
  EXPECT_EQ(table.groups()[2].number, 0u);
  EXPECT_EQ(table.groups()[2].first, 5u);
  EXPECT_EQ(table.files()[1].first, 5u);
}

TEST(ParquetTable, LeavesOutEmptyRowGroupsAndKeepsTheNumbersOfOthers) {
  ParquetTable table;
  ASSERT_TRUE(table.Add("empty", 10, {}).ok());
  ASSERT_TRUE(table.Add("a", 10, {0, 2, 0, 1}).ok());
  ASSERT_EQ(table.groups().size(), 2u);
  EXPECT_EQ(table.groups()[0].file, 1u);
  EXPECT_EQ(table.groups()[0].number, 1u);
  EXPECT_EQ(table.groups()[1].number, 3u);
  EXPECT_EQ(table.GroupOf(2), 1u);
}

TEST(ParquetTable, FingerprintTellsRowGroupsApart) {
  ParquetTable one;
  ASSERT_TRUE(one.Add("a", 10, {3, 2}).ok());
  ParquetTable other;
  ASSERT_TRUE(other.Add("a", 10, {2, 3}).ok());
  ParquetTable divided;
  ASSERT_TRUE(divided.Add("a", 10, {3}).ok());
  ASSERT_TRUE(divided.Add("b", 10, {2}).ok());
  EXPECT_NE(one.fingerprint(), other.fingerprint());
  EXPECT_NE(one.fingerprint(), divided.fingerprint());
}

TEST(ParquetTable, RefusesCountsThatCannotBe) {
  ParquetTable negative;
  EXPECT_EQ(KindOf(negative.Add("a", 10, {-1})), ErrorKind::kData);
  ParquetTable many;
  EXPECT_EQ(KindOf(many.Add("a", 10, {std::numeric_limits<int64_t>::max(), 1})), ErrorKind::kData);
}

}  // namespace
}  // namespace headrace
