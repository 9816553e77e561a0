#include "engine/cache/row_cache.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "core/row_id.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

constexpr uint64_t kRowCacheRows = 500;
constexpr size_t kBytes = 1000;

std::vector<Tensor> RowOf(uint64_t key) {
  Tensor data = *Tensor::Allocate(DType::kUInt8, {static_cast<int64_t>(kBytes)});
  for (size_t i = 0; i < kBytes; ++i) data.mutable_raw()[i] = static_cast<uint8_t>(Scramble(key + i));
  return {data, *Tensor::Scalar(static_cast<int64_t>(key))};
}

// An account of the test's own, for a budget of so many bytes.
class Account {
 public:
  Account() : account_(MemoryAccount::Open()) {}
  ~Account() { account_->Close(); }
  MemoryAccount* get() const { return account_; }
  RowCache::Use Use(int64_t budget, uint64_t rows = kRowCacheRows) const { return {account_, budget, "content", rows}; }

 private:
  MemoryAccount* const account_;
};

RowCache::Limits Memory(int64_t bytes) { return {bytes, "", std::nullopt}; }
RowCache::Limits Both(std::optional<int64_t> memory, const TemporaryFolder& folder) {
  return {memory, folder.path(), std::nullopt};
}

void OfferAll(RowCache& cache, bool backwards = false) {
  for (uint64_t i = 0; i < kRowCacheRows; ++i) {
    const uint64_t key = backwards ? kRowCacheRows - 1 - i : i;
    cache.Offer(key, RowOf(key), 1000);
  }
}

std::set<uint64_t> KeysIn(RowCache& cache) {
  std::set<uint64_t> keys;
  std::vector<Tensor> row;
  for (uint64_t key = 0; key < kRowCacheRows; ++key) {
    if (!cache.Find(key, row)) continue;
    keys.insert(key);
    EXPECT_TRUE(TensorsEqual(row[0], RowOf(key)[0]) && TensorsEqual(row[1], RowOf(key)[1])) << key;
  }
  return keys;
}

TEST(RowCache, GivesWayWhenItShrinks) {
  const Account account;
  RowCache cache("cache[1]", true, {});
  ASSERT_TRUE(cache.Open(account.Use(1 << 30)).ok());
  OfferAll(cache);
  const std::set<uint64_t> all = KeysIn(cache);
  EXPECT_EQ(all.size(), kRowCacheRows);
  cache.Shrink(200'000);
  EXPECT_LE(account.get()->held(), 200'000);
  EXPECT_LE(cache.memory_bytes(), 200'000);
  const std::set<uint64_t> left = KeysIn(cache);
  EXPECT_GT(left.size(), kRowCacheRows / 10);
  OfferAll(cache);
  EXPECT_EQ(KeysIn(cache), left) << "the same rows are kept from then on";
  cache.Shrink(-5);
  EXPECT_EQ(account.get()->held(), 0);
  EXPECT_FALSE(cache.Wants(7));
}

TEST(RowCache, KeepsAllThatFits) {
  const Account account;
  RowCache cache("cache[1]", true, {});
  ASSERT_TRUE(cache.Open(account.Use(1 << 30)).ok());
  OfferAll(cache);
  EXPECT_EQ(KeysIn(cache).size(), kRowCacheRows);
  EXPECT_GT(account.get()->held(), static_cast<int64_t>(kRowCacheRows * kBytes));
  cache.Close();
  EXPECT_EQ(account.get()->held(), 0);
}

// If half of the rows fit, half are kept, the same half whatever the order, and they stay.
TEST(RowCache, KeepsTheSameShareWhateverTheOrder) {
  const Account account;
  RowCache forwards("cache[1]", true, Memory(300'000));
  RowCache backwards("cache[1]", true, Memory(300'000));
  ASSERT_TRUE(forwards.Open(account.Use(1 << 30)).ok());
  ASSERT_TRUE(backwards.Open(account.Use(1 << 30)).ok());
  OfferAll(forwards);
  OfferAll(backwards, true);
  OfferAll(forwards);
  OfferAll(backwards, true);
  const std::set<uint64_t> keys = KeysIn(forwards);
  EXPECT_EQ(keys, KeysIn(backwards));
  EXPECT_GT(keys.size(), kRowCacheRows * 4 / 10);
  EXPECT_LT(keys.size(), kRowCacheRows * 6 / 10);
  EXPECT_LE(forwards.memory_bytes(), 300'000);
}

TEST(RowCache, TakesNoMoreThanItsPartOfTheBudget) {
  const Account account;
  RowCache wished("cache[1]", true, Memory(1 << 30));
  ASSERT_TRUE(wished.Open(account.Use(200'000)).ok());
  OfferAll(wished);
  EXPECT_LE(wished.memory_bytes(), 150'000);
  RowCache left("cache[1]", true, {});
  ASSERT_TRUE(left.Open(account.Use(200'000)).ok());
  OfferAll(left);
  EXPECT_LE(left.memory_bytes(), 100'000);
}

TEST(RowCache, GivesRowsThatOutliveIt) {
  const Account account;
  std::vector<Tensor> row;
  {
    RowCache cache("cache[1]", true, {});
    ASSERT_TRUE(cache.Open(account.Use(1 << 30)).ok());
    cache.Offer(3, RowOf(3), 0);
    ASSERT_TRUE(cache.Find(3, row));
  }
  EXPECT_TRUE(TensorsEqual(row[0], RowOf(3)[0]));
}

TEST(RowCache, CountsARowThatItGaveOutOnItsOwnAccountAlone) {
  const Account account;
  RowCache cache("cache[1]", true, {});
  ASSERT_TRUE(cache.Open(account.Use(1 << 30)).ok());
  cache.Offer(3, RowOf(3), 0);
  const int64_t held = account.get()->held();
  std::vector<Tensor> row;
  ASSERT_TRUE(cache.Find(3, row));
  EXPECT_EQ(row[0].footprint(), 0u);
  row[0].HandOver();
  EXPECT_EQ(account.get()->held(), held);
}

TEST(RowCache, WritesWhatDoesNotFitIntoMemory) {
  const TemporaryFolder folder;
  const Account account;
  RowCache cache("cache[1]", true, Both(100'000, folder));
  ASSERT_TRUE(cache.Open(account.Use(1 << 30)).ok());
  OfferAll(cache);
  OfferAll(cache);
  EXPECT_EQ(KeysIn(cache).size(), kRowCacheRows);
  EXPECT_LE(cache.memory_bytes(), 100'000);
}

TEST(RowCache, FindsWhatAnEarlierOneKeptUnderTheSameContent) {
  const TemporaryFolder folder;
  const Account account;
  {
    RowCache cache("cache[1]", true, Both(std::nullopt, folder));
    ASSERT_TRUE(cache.Open(account.Use(1 << 30)).ok());
    OfferAll(cache);
  }
  RowCache same("cache[1]", true, Both(0, folder));
  ASSERT_TRUE(same.Open(account.Use(1 << 30)).ok());
  EXPECT_EQ(KeysIn(same).size(), kRowCacheRows);
  RowCache other("cache[1]", true, Both(std::nullopt, folder));
  RowCache::Use use = account.Use(1 << 30);
  use.content = "other content";
  ASSERT_TRUE(other.Open(use).ok());
  EXPECT_EQ(KeysIn(other).size(), 0u);
}

// If there are fewer rows than are measured, they are kept, too, and written at the end.
TEST(RowCache, SettlesForFewRowsAtItsEnd) {
  const TemporaryFolder folder;
  const Account account;
  {
    RowCache cache("cache[1]", true, Both(std::nullopt, folder));
    ASSERT_TRUE(cache.Open(account.Use(1 << 30)).ok());
    for (uint64_t key = 0; key < 5; ++key) cache.Offer(key, RowOf(key), 0);
    EXPECT_EQ(KeysIn(cache).size(), 5u);
  }
  RowCache cache("cache[1]", true, Both(std::nullopt, folder));
  ASSERT_TRUE(cache.Open(account.Use(1 << 30)).ok());
  EXPECT_EQ(KeysIn(cache).size(), 5u);
}

TEST(RowCache, LeavesItsRowsToTheNextOne) {
  const Account account;
  CacheShelf shelf;
  RowCache::Use use = account.Use(1 << 30);
  use.shelf = &shelf;
  {
    RowCache first("cache[1]", true, {});
    ASSERT_TRUE(first.Open(use).ok());
    OfferAll(first);
  }
  EXPECT_EQ(account.get()->held(), 0) << "the shelf is charged to no account";
  {
    RowCache::Use other = use;
    other.content = "other content";
    RowCache second("cache[1]", true, {});
    ASSERT_TRUE(second.Open(other).ok());
    EXPECT_TRUE(KeysIn(second).empty());
  }
  RowCache third("cache[1]", true, {});
  ASSERT_TRUE(third.Open(use).ok());
  EXPECT_EQ(KeysIn(third).size(), kRowCacheRows);
  EXPECT_EQ(account.get()->held(), third.memory_bytes());
}

TEST(RowCache, KeepsAShareOfTheShelfWhereTheNextBudgetIsSmaller) {
  const Account account;
  CacheShelf shelf;
  for (const int64_t budget : {1 << 30, 400'000}) {
    RowCache::Use use = account.Use(budget);
    use.shelf = &shelf;
    RowCache cache("cache[1]", true, {});
    ASSERT_TRUE(cache.Open(use).ok());
    EXPECT_LE(account.get()->held(), budget / 2);
    OfferAll(cache);
    EXPECT_LE(account.get()->held(), budget / 2);
  }
}

// A row that the cache holds must not be mistaken for memory that may be written to.
TEST(RowCache, GivesRowsThatAreNotWrittenTo) {
  const Account account;
  RowCache cache("cache[1]", true, {});
  ASSERT_TRUE(cache.Open(account.Use(1 << 30)).ok());
  cache.Offer(3, RowOf(3), 0);
  std::vector<Tensor> row;
  ASSERT_TRUE(cache.Find(3, row));
  row.pop_back();
  EXPECT_FALSE(row[0].buffer().unique());
}

TEST(RowCache, SaysWhatItSaved) {
  const Account account;
  RowCache cache("cache[1]", true, {});
  ASSERT_TRUE(cache.Open(account.Use(1 << 30)).ok());
  OfferAll(cache);
  KeysIn(cache);
  const CacheReport report = cache.report();
  EXPECT_EQ(report.kept, kRowCacheRows);
  EXPECT_EQ(report.hits, kRowCacheRows);
  EXPECT_NEAR(report.saved_s, 1e-6 * kRowCacheRows, 1e-9);
  cache.TurnOff("for a reason");
  EXPECT_EQ(KeysIn(cache).size(), 0u);
  EXPECT_EQ(account.get()->held(), 0);
  EXPECT_EQ(cache.report().off, "for a reason");
}

TEST(RowCache, ServesManyThreads) {
  const TemporaryFolder folder;
  const Account account;
  RowCache cache("cache[1]", true, Both(200'000, folder));
  ASSERT_TRUE(cache.Open(account.Use(1 << 30)).ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&cache, i] {
      OfferAll(cache, i % 2 == 0);
      KeysIn(cache);
    });
  }
  for (std::thread& thread : threads) thread.join();
  OfferAll(cache);
  EXPECT_EQ(KeysIn(cache).size(), kRowCacheRows);
  cache.Close();
  EXPECT_EQ(account.get()->held(), 0);
}

}  // namespace
}  // namespace headrace
