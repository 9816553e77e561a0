#include "ops/order/drawn_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "core/buffer.h"
#include "core/error.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Found {
  std::vector<uint64_t> rows;
  std::vector<uint64_t> occurrences;
};

Found FindAll(const RowOrder& order, uint64_t epoch) {
  Found found;
  for (uint64_t i = 0; i < order.size(); ++i) found.rows.push_back(i);
  found.occurrences.resize(found.rows.size());
  order.Find(epoch, absl::MakeSpan(found.rows), absl::MakeSpan(found.occurrences));
  return found;
}

constexpr int64_t kMemory = 1 << 20;

TEST(DrawnOrder, CountsHowOftenARowCameBefore) {
  // Few rows of the input, and many.
  for (const uint64_t input_rows : {uint64_t{5}, uint64_t{1} << 31}) {
    const auto order =
        *MakeDrawnOrder({5, input_rows, int64_t{1} << 40}, [](uint64_t epoch, absl::Span<uint32_t> rows) {
          for (uint32_t i = 0; i < rows.size(); ++i) rows[i] = epoch == 0 ? i % 2 : i;
        });
    EXPECT_THAT(FindAll(*order, 0).rows, ElementsAre(0, 1, 0, 1, 0));
    EXPECT_THAT(FindAll(*order, 0).occurrences, ElementsAre(0, 0, 1, 1, 2));
    EXPECT_THAT(FindAll(*order, 1).rows, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(FindAll(*order, 1).occurrences, ElementsAre(0, 0, 0, 0, 0));
  }
}

TEST(DrawnOrder, IsDrawnOnceForAllThreads) {
  constexpr uint64_t kEpochs = 5;
  std::atomic<int> draws{0};
  const auto order = *MakeDrawnOrder({100, 1000, kMemory}, [&](uint64_t epoch, absl::Span<uint32_t> rows) {
    draws.fetch_add(1);
    for (uint32_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<uint32_t>(epoch * 100) + i;
  });
  std::atomic<int> wrong{0};
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (uint64_t i = 0; i < 100; ++i) {
          uint64_t position = i, occurrence = 0;
          order->Find(epoch, absl::MakeSpan(&position, 1), absl::MakeSpan(&occurrence, 1));
          if (position != epoch * 100 + i || occurrence != 0) wrong.fetch_add(1);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(draws.load(), static_cast<int>(kEpochs));
}

TEST(DrawnOrder, CountsItsMemory) {
  MemoryAccount* const account = MemoryAccount::Open();
  {
    const auto order = *MakeDrawnOrder(
        {1000, 10, kMemory}, [](uint64_t, absl::Span<uint32_t> rows) { std::fill(rows.begin(), rows.end(), 3); });
    for (uint64_t epoch = 0; epoch < 4; ++epoch) {
      const TaskMemory task(&BufferPool::Global(), account, 0);
      FindAll(*order, epoch);
      EXPECT_EQ(account->held(), epoch == 0 ? 8000 : 16000);
    }
  }
  EXPECT_EQ(account->held(), 0);
  account->Close();
}

TEST(DrawnOrder, ThatDoesNotFitIsRefused) {
  const auto large = MakeDrawnOrder({1 << 17, 10, kMemory}, nullptr);
  EXPECT_EQ(KindOf(large.status()), ErrorKind::kResource);
  EXPECT_THAT(large.status().message(), HasSubstr("16 for each of 131072 draws, more than half of the budget"));
  // What the rows of the input take and what the draws take fit, but not both.
  EXPECT_TRUE(MakeDrawnOrder({20'000, 10, kMemory}, nullptr).ok());
  EXPECT_TRUE(MakeDrawnOrder({10, 10'000, kMemory}, nullptr).ok());
  EXPECT_EQ(KindOf(MakeDrawnOrder({20'000, 10'000, kMemory}, nullptr).status()), ErrorKind::kResource);
  EXPECT_EQ(KindOf(MakeDrawnOrder({1, uint64_t{1} << 32, kMemory}, nullptr).status()), ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace headrace
