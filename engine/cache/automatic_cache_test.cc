#include "engine/cache/automatic_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/row_id.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kAutomaticCacheRows = 1000;
constexpr uint64_t kMicrosecond = 1000;

// The cost of a row in a test: for each point, the time of the remaining steps, and the bytes that a row takes there.
struct Costs {
  uint64_t below_us = 50;
  std::vector<uint64_t> rest_us;
  std::vector<size_t> bytes;
};

class AutomaticCacheTest : public ::testing::Test {
 protected:
  AutomaticCacheTest() : account_(MemoryAccount::Open()) {}
  ~AutomaticCacheTest() override {
    if (cache_ != nullptr) cache_->Close();
    cache_.reset();
    account_->Close();
  }

  void Open(int64_t budget, int point = AutomaticCache::kNoPoint) {
    if (cache_ != nullptr) cache_->Close();
    cache_ = std::make_unique<AutomaticCache>(
        "map[1]", std::vector<CachePoint>{{"the source", "0 image"}, {"Decode", "0 image"}, {"Resize", "0 image"}});
    AutomaticCache::Use use;
    use.rows = {account_, budget, "content", kAutomaticCacheRows, &shelf_};
    if (point != AutomaticCache::kNoPoint) use.choose_point = [point](absl::Span<const CachePoint>) { return point; };
    ASSERT_TRUE(cache_->Open(use).ok());
  }

  // The point that is chosen if each row has these costs; kNoPoint: none.
  int Choose(const Costs& costs) {
    for (uint64_t key = 0; key < kAutomaticCacheRows; ++key) {
      const AutomaticCache::Turn turn = cache_->TurnOf(key);
      if (!turn.measured) continue;
      const size_t point = static_cast<size_t>(turn.point);
      cache_->Add(turn.point, AutomaticCache::Sample{costs.below_us * kMicrosecond, costs.rest_us[point] * kMicrosecond,
                                                     costs.bytes[point]});
    }
    return cache_->TurnOf(0).point;
  }

  MemoryAccount* const account_;
  CacheShelf shelf_;
  std::unique_ptr<AutomaticCache> cache_;
};

constexpr int64_t kMuch = int64_t{1} << 30;

TEST_F(AutomaticCacheTest, TakesThePointThatSavesMost) {
  Open(kMuch);
  EXPECT_EQ(Choose({.rest_us = {1000, 300, 100}, .bytes = {10'000, 50'000, 20'000}}), 2);
  EXPECT_THAT(cache_->report().point, HasSubstr("after Resize"));
  EXPECT_THAT(cache_->report().why, HasSubstr("to make, 100 µs from here, and 19.5 KiB to keep, which saves 90%"));
  Open(kMuch);
  EXPECT_EQ(Choose({.rest_us = {1000, 300, 295}, .bytes = {10'000, 50'000, 90'000}}), 1)
      << "about as good, and smaller";
  Open(kMuch);
  EXPECT_EQ(Choose({.below_us = 9000, .rest_us = {100, 90, 80}, .bytes = {10'000, 50'000, 90'000}}), 0);
}

TEST_F(AutomaticCacheTest, CountsHowManyRowsFit) {
  // A tenth of the rows would fit after Decode, all of them after Resize.
  Open(10'000'000);
  EXPECT_EQ(Choose({.rest_us = {1000, 100, 700}, .bytes = {10'000, 50'000, 1000}}), 2);
  Open(10'000'000);
  EXPECT_EQ(Choose({.rest_us = {1000, 100, 1040}, .bytes = {900'000, 20'000, 1000}}), 1);
}

TEST_F(AutomaticCacheTest, KeepsNothingThatDoesNotPay) {
  Open(kMuch);
  EXPECT_EQ(Choose({.below_us = 1, .rest_us = {5, 1, 1}, .bytes = {10, 10, 10}}), AutomaticCache::kNoPoint);
  EXPECT_THAT(cache_->report().off, HasSubstr("takes only"));
  Open(kMuch);
  EXPECT_EQ(Choose({.rest_us = {1000, 990, 980}, .bytes = {10, 10, 10}}), AutomaticCache::kNoPoint);
  EXPECT_THAT(cache_->report().off, HasSubstr("of an epoch's work"));
  Open(100'000);
  EXPECT_EQ(Choose({.rest_us = {1000, 100, 100}, .bytes = {10'000, 10'000, 10'000}}), AutomaticCache::kNoPoint);
  EXPECT_EQ(account_->held(), 0);
}

TEST_F(AutomaticCacheTest, WaitsForAllSamples) {
  Open(kMuch);
  const AutomaticCache::Turn owed = cache_->TurnOf(0);
  ASSERT_TRUE(owed.measured);
  EXPECT_EQ(Choose({.rest_us = {1000, 100, 100}, .bytes = {10, 10, 10}}), AutomaticCache::kNoPoint);
  cache_->Add(owed.point, std::nullopt);
  EXPECT_TRUE(cache_->TurnOf(0).kept);
}

TEST_F(AutomaticCacheTest, GoesOnWithRowsKeptBefore) {
  Open(kMuch, 1);
  ASSERT_EQ(cache_->TurnOf(7).point, 1);
  cache_->Offer(7, 1, {*Tensor::Scalar(int64_t{77})}, 1000);
  EXPECT_FALSE(cache_->TurnOf(8).measured);
  Open(kMuch);
  std::vector<Tensor> row;
  ASSERT_TRUE(cache_->rows()->Find(7, row));
  EXPECT_EQ(cache_->PointOfFound(row), 1);
  ASSERT_EQ(row.size(), 1u);
  EXPECT_EQ(row[0].value<int64_t>(), 77);
  EXPECT_EQ(cache_->TurnOf(8).point, 1) << "the point is known from then";
}

TEST_F(AutomaticCacheTest, DoesNotTakeOtherRowsForItsOwn) {
  Open(kMuch);
  std::vector<Tensor> row = {*Tensor::Scalar(int64_t{3})};
  EXPECT_EQ(cache_->PointOfFound(row), AutomaticCache::kNoPoint);
  row = {*Tensor::Scalar(int32_t{1})};
  EXPECT_EQ(cache_->PointOfFound(row), AutomaticCache::kNoPoint);
}

}  // namespace
}  // namespace headrace
