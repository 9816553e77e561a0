#include "engine/exec/store_use.h"

#include <gtest/gtest.h>

#include "io/files/far_listings.h"
#include "io/files/file_system.h"
#include "io/files/testing/memory_store.h"

namespace headrace {
namespace {

TEST(StoreUse, CountsWhatARunAskedFor) {
  MemoryStore store;
  store.Put("mem://b/1", "12345");
  const auto listings = std::make_shared<FarListings>();
  const FileSystem* const files = listings->Over(&store);
  const StoreUse before(listings);
  EXPECT_TRUE(before.reports().empty());
  ASSERT_TRUE(files->Read("mem://b/1").ok());
  const StoreUse run(listings);
  EXPECT_TRUE(run.reports().empty());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(files->Read("mem://b/1").ok());
  const std::vector<StoreReport> all = before.reports();
  const std::vector<StoreReport> reports = run.reports();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].name, "mem://");
  EXPECT_EQ(reports[0].counters.reads, 3);
  EXPECT_EQ(reports[0].counters.received, 15);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].counters.reads, 4);
  EXPECT_EQ(all[0].counters.received, 20);
}

// Stores count for the process: what they did before this data set is not of its runs.
TEST(StoreUse, LeavesOutWhatAStoreDidBefore) {
  MemoryStore store;
  store.Put("mem://b/1", "12345");
  ASSERT_TRUE(store.Read("mem://b/1").ok());
  const auto listings = std::make_shared<FarListings>();
  const StoreUse run(listings);
  ASSERT_TRUE(listings->Over(&store)->Read("mem://b/1").ok());
  ASSERT_EQ(run.reports().size(), 1u);
  EXPECT_EQ(run.reports()[0].counters.reads, 1);
}

TEST(StoreUse, KnowsNothingOfTheMachinesOwnFiles) {
  const auto listings = std::make_shared<FarListings>();
  const StoreUse run(listings);
  ASSERT_TRUE(listings->Over(LocalFileSystem())->Stat("/").ok());
  EXPECT_TRUE(run.reports().empty());
}

}  // namespace
}  // namespace headrace
