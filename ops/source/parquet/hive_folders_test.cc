#include "ops/source/parquet/hive_folders.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(HiveFolders, GivesKeysOfFoldersFromTheOutermostOn) {
  EXPECT_EQ(HiveFolders("/data/year=2024/split=train/a.parquet"), (Pairs{{"year", "2024"}, {"split", "train"}}));
  EXPECT_EQ(HiveFolders("year=2024/a.parquet"), (Pairs{{"year", "2024"}}));
}

TEST(HiveFolders, LeavesOutNamesOfFilesAndOtherFolders) {
  EXPECT_EQ(HiveFolders("/data/x=1.parquet"), Pairs());
  EXPECT_EQ(HiveFolders("a/=b/c.parquet"), Pairs());
  EXPECT_EQ(HiveFolders("a.parquet"), Pairs());
}

TEST(HiveFolders, ReplacesPercentSigns) {
  EXPECT_EQ(HiveFolders("a%20b=c%2Fd/x"), (Pairs{{"a b", "c/d"}}));
  EXPECT_EQ(HiveFolders("a=100%/x"), (Pairs{{"a", "100%"}}));
  EXPECT_EQ(HiveFolders("a=%zz%4/x"), (Pairs{{"a", "%zz%4"}}));
}

TEST(HiveFolders, ValuesCanBeEmptyOrHoldFurtherSigns) {
  EXPECT_EQ(HiveFolders("a=/b=c=d/x"), (Pairs{{"a", ""}, {"b", "c=d"}}));
}

TEST(HiveNumber, TakesWholeNumbersAsTheyAreWritten) {
  EXPECT_EQ(HiveNumber("2024"), 2024);
  EXPECT_EQ(HiveNumber("-3"), -3);
  EXPECT_EQ(HiveNumber("0"), 0);
  for (const char* const text : {"007", "+1", "", "1.5", "1 ", "-0", "9223372036854775808", "train"}) {
    EXPECT_EQ(HiveNumber(text), std::nullopt) << text;
  }
}

TEST(FolderColumns, AreInt64WhereAllValuesAreWholeNumbers) {
  PathArena paths;
  EXPECT_TRUE(FolderColumns(paths).empty());
  paths.Add("x/year=2024/part=1/a");
  paths.Add("x/year=2025/part=x/a");
  paths.Add("x/year=__HIVE_DEFAULT_PARTITION__/part=2/other=3/a");
  const std::vector<std::pair<std::string, DType>> columns = {{"year", DType::kInt64}, {"part", DType::kString}};
  EXPECT_EQ(FolderColumns(paths), columns);
}

TEST(FolderColumns, HaveTheFirstOfTwoFoldersOfOneName) {
  PathArena paths;
  paths.Add("k=1/k=2/a");
  EXPECT_EQ(FolderColumns(paths).size(), 1u);
}

}  // namespace
}  // namespace headrace
