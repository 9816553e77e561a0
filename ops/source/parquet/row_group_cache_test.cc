#include "ops/source/parquet/row_group_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "io/files/default_file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/parquet/testing/fake_parquet.h"

namespace headrace {
namespace {

constexpr int64_t kGroupBytes = 64;  // of eight rows of int64

class RowGroups : public ::testing::Test {
 protected:
  // A file whose row groups have eight rows each.
  std::unique_ptr<ParquetFiles> Open(const std::vector<int>& rows) {
    const std::string path = folder_.Write("a.parquet");
    library_.SetRows(path, rows);
    auto table = std::make_shared<ParquetTable>();
    EXPECT_TRUE(table->Add(path, 1, std::vector<int64_t>(rows.begin(), rows.end())).ok());
    ParquetFields fields;
    fields.columns.push_back({"value", ir::ColumnType::Of(DType::kInt64, {})});
    fields.choices.columns = {"value"};
    return std::make_unique<ParquetFiles>(DefaultFileSystem(), &library_, std::move(table), std::move(fields));
  }

  FakeParquet library_;
  TemporaryFolder folder_;
};

TEST_F(RowGroups, LatestAreKeptUpToTheirBytes) {
  const std::unique_ptr<ParquetFiles> files = Open({8, 8, 8});
  RowGroupCache cache(files.get(), 2 * kGroupBytes);
  for (const size_t group : {0, 1, 0, 1}) ASSERT_TRUE(cache.Get(group).ok());
  EXPECT_EQ(library_.groups_read(), 2);
  ASSERT_TRUE(cache.Get(2).ok());
  ASSERT_TRUE(cache.Get(1).ok());
  EXPECT_EQ(library_.groups_read(), 3) << "1 was read later than 0";
  ASSERT_TRUE(cache.Get(0).ok());
  EXPECT_EQ(library_.groups_read(), 4);
}

TEST_F(RowGroups, OneThatAloneIsTooLargeIsKeptUntilTheNext) {
  const std::unique_ptr<ParquetFiles> files = Open({8, 8});
  RowGroupCache cache(files.get(), 1);
  for (const size_t group : {0, 0, 1, 1, 0}) ASSERT_TRUE(cache.Get(group).ok());
  EXPECT_EQ(library_.groups_read(), 3);
}

TEST_F(RowGroups, RunsCoverAllRows) {
  const std::unique_ptr<ParquetFiles> files = Open({10});
  RowGroupCache cache(files.get(), kGroupBytes);
  const absl::StatusOr<std::shared_ptr<const DecodedGroup>> decoded = cache.Get(0);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ((*decoded)->bytes, 80);
  ASSERT_EQ((*decoded)->runs.size(), 3u);
  EXPECT_EQ((*decoded)->RunOf(3).first, 0u);
  EXPECT_EQ((*decoded)->RunOf(4).first, 4u);
  EXPECT_EQ((*decoded)->RunOf(9).first, 8u);
}

TEST_F(RowGroups, ThreadsThatAskForOneDecodeItOnce) {
  const std::unique_ptr<ParquetFiles> files = Open({8, 8});
  RowGroupCache cache(files.get(), 2 * kGroupBytes);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&cache, i] { EXPECT_TRUE(cache.Get(static_cast<size_t>(i % 2)).ok()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(library_.groups_read(), 2);
}

TEST_F(RowGroups, ErrorsAreNotKept) {
  const std::unique_ptr<ParquetFiles> files = Open({8});
  RowGroupCache cache(files.get(), kGroupBytes);
  const std::string path = folder_ / "a.parquet";
  library_.Set(path, {.damaged = true});
  EXPECT_EQ(KindOf(cache.Get(0).status()), ErrorKind::kData);
  library_.SetRows(path, {8});
  EXPECT_TRUE(cache.Get(0).ok());
}

TEST_F(RowGroups, FilesThatWereReplacedAreRefused) {
  const std::unique_ptr<ParquetFiles> files = Open({8});
  RowGroupCache cache(files.get(), kGroupBytes);
  library_.SetRows(folder_ / "a.parquet", {9});
  const absl::Status replaced = cache.Get(0).status();
  EXPECT_EQ(KindOf(replaced), ErrorKind::kData);
  EXPECT_NE(replaced.message().find("the file was replaced"), std::string::npos) << replaced;
}

}  // namespace
}  // namespace headrace
