#include "io/files/http/later_buffer.h"

#include <gtest/gtest.h>

#include <optional>

namespace headrace::http {
namespace {

constexpr int64_t kLaterBytes = 100'000;

TEST(LaterBuffer, IsChargedWhenItIsMadeAndAllocatedWhenItIsUsed) {
  BufferPool pool(SystemAllocator());
  MemoryAccount* const account = MemoryAccount::Open();
  std::optional<LaterBuffer> later;
  {
    const TaskMemory task(&pool, account, 0);
    later.emplace(kLaterBytes);
    EXPECT_GE(task.peak(), kLaterBytes);
  }
  EXPECT_EQ(account->held(), kLaterBytes);
  EXPECT_EQ(pool.outstanding_bytes(), 0);
  const absl::Span<uint8_t> bytes = later->Get();
  ASSERT_EQ(bytes.size(), static_cast<size_t>(kLaterBytes));
  EXPECT_EQ(later->Get().data(), bytes.data());
  EXPECT_GE(pool.outstanding_bytes(), kLaterBytes);
  // What the pool gave, with its header, in place of what was asked for.
  EXPECT_GE(account->held(), pool.outstanding_bytes());
  EXPECT_LE(account->held(), 2 * kLaterBytes);
  BufferRef kept = later->buffer();
  later.reset();
  EXPECT_GE(account->held(), kLaterBytes);
  kept = BufferRef();
  EXPECT_EQ(account->held(), 0);
  EXPECT_EQ(pool.outstanding_bytes(), 0);
  account->Close();
  pool.Trim(0);
}

TEST(LaterBuffer, CostsNothingWhereItIsNotUsed) {
  MemoryAccount* const account = MemoryAccount::Open();
  {
    const TaskMemory task(&BufferPool::Global(), account, 0);
    const LaterBuffer later(kLaterBytes);
    EXPECT_EQ(account->held(), kLaterBytes);
  }
  EXPECT_EQ(account->held(), 0);
  account->Close();
}

TEST(LaterBuffer, KeepsTheAccountOfAPipelineThatHasEnded) {
  std::optional<LaterBuffer> later;
  {
    MemoryAccount* const account = MemoryAccount::Open();
    const TaskMemory task(&BufferPool::Global(), account, 0);
    later.emplace(kLaterBytes);
    account->Close();
  }
  EXPECT_FALSE(later->Get().empty());
  later.reset();
}

TEST(LaterBuffer, NeedsNoTask) {
  LaterBuffer later(kLaterBytes);
  EXPECT_FALSE(later.buffer());
  EXPECT_EQ(later.Get().size(), static_cast<size_t>(kLaterBytes));
  EXPECT_TRUE(later.buffer());
}

TEST(LaterBuffer, IsEmptyWithoutMemory) {
  LaterBuffer later(size_t{1} << 60);
  EXPECT_TRUE(later.Get().empty());
}

}  // namespace
}  // namespace headrace::http
