#include "engine/cache/automatic_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

  void Leave(uint64_t key, std::string_view bytes) { cache_->notes()->Leave(key, bytes, EarlierNote::kRightOrNone); }
  void LeaveNotes(uint64_t count, size_t bytes) {
    for (uint64_t key = 0; key < count; ++key) Leave(key, std::string(bytes, 'a'));
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

const Costs kWellWorth = {50, {1000, 10, 5}, {100, 4000, 9000}};
constexpr uint64_t kChoosingRows = 48;  // 16 of each point

// As many rows are kept as the notes of all leave room for.
TEST_F(AutomaticCacheTest, KeepsNotesOfAllRowsBeforeSomeRows) {
  Open(4 << 20);
  Choose(kWellWorth);
  const int64_t without_notes = cache_->report().memory_limit;
  EXPECT_EQ(without_notes, 2 << 20);
  Open(4 << 20);
  // A thousand bytes each, with what the table needs.
  LeaveNotes(kChoosingRows, 872);
  EXPECT_EQ(Choose(kWellWorth), 1);
  // Half as many more are for those that come.
  EXPECT_EQ(cache_->report().memory_limit, without_notes - 1'500'000);
  EXPECT_EQ(cache_->memory_limit(), without_notes);
  EXPECT_EQ(cache_->report().notes.notes, kChoosingRows);
}

TEST_F(AutomaticCacheTest, LeavesRoomForAsManyNotesAsRowsLeave) {
  Open(4 << 20);
  LeaveNotes(1, 872);
  EXPECT_EQ(Choose(kWellWorth), 1);
  EXPECT_EQ(cache_->report().memory_limit, (2 << 20) - 1'500'000 / static_cast<int64_t>(kChoosingRows));
  // Rows have their part of the memory, however large the notes of the first ones are.
  Open(4 << 20);
  LeaveNotes(kChoosingRows, 20'000);
  Choose(kWellWorth);
  EXPECT_EQ(cache_->report().memory_limit, (2 << 20) / 8);
}

// Where the point is known at the start, or from rows that were kept before, no first rows are measured.
TEST_F(AutomaticCacheTest, MakesRoomForNotesAsTheyCome) {
  for (const bool found : {false, true}) {
    Open(4 << 20, 1);
    for (uint64_t key = 0; key < kAutomaticCacheRows; ++key) {
      Leave(key, std::string(372, 'a'));
      std::vector<Tensor> row = {*Tensor::Scalar(int64_t{77}), *Tensor::Scalar(int64_t{1})};
      if (found) {
        EXPECT_EQ(cache_->PointOfFound(row), 1);
      } else {
        EXPECT_FALSE(cache_->TurnOf(key).measured);
      }
      cache_->Offer(key, 1, {*Tensor::CopyBytes(DType::kBytes, std::string(3000, 'b'))}, 1000);
      const CacheReport report = cache_->report();
      ASSERT_LE(report.memory_bytes + report.notes.memory_bytes, cache_->memory_limit()) << key;
      ASSERT_EQ(report.memory_bytes + report.notes.memory_bytes, account_->held());
    }
    EXPECT_EQ(cache_->report().notes.notes, kAutomaticCacheRows);
    EXPECT_GT(cache_->report().kept, 300u);
  }
}

TEST_F(AutomaticCacheTest, KeepsNotesWhereNoPointPays) {
  Open(4 << 20);
  EXPECT_EQ(Choose({50, {10, 10, 10}, {90000, 90000, 90000}}), AutomaticCache::kNoPoint);
  Leave(1, "note");
  std::string bytes;
  EXPECT_TRUE(cache_->notes()->Find(1, bytes));
  EXPECT_EQ(bytes, "note");
  cache_->MakeRoom(4 << 20);
  EXPECT_FALSE(cache_->notes()->Find(1, bytes));
}

TEST_F(AutomaticCacheTest, KeepsNotesAloneWhereItMayKeepNoRows) {
  cache_ = std::make_unique<AutomaticCache>("map[1]", std::vector<CachePoint>{{"the source", "0 image"}});
  cache_->Decline("as cache[2] keeps its rows");
  AutomaticCache::Use use;
  use.rows = {account_, kMuch, "content", kAutomaticCacheRows, &shelf_};
  cache_->OpenForNotes(use, 10'000);
  EXPECT_EQ(cache_->rows(), nullptr);
  LeaveNotes(1000, 100);
  const CacheReport report = cache_->report();
  EXPECT_EQ(report.off, "as cache[2] keeps its rows");
  EXPECT_GT(report.notes.notes, 20u);
  EXPECT_LE(report.notes.memory_bytes, 10'000);
  cache_->MakeRoom(kMuch);
  EXPECT_EQ(cache_->report().notes.notes, 0u);
}

}  // namespace
}  // namespace headrace
