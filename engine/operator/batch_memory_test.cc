#include "engine/operator/batch_memory.h"

#include <gtest/gtest.h>

#include <memory>

namespace headrace {
namespace {

class Account {
 public:
  ~Account() { account_->Close(); }
  MemorySource source() const { return {&BufferPool::Global(), account_}; }
  void Charge(int64_t bytes) { account_->Charge(bytes); }
  int64_t held() const { return account_->held(); }

 private:
  MemoryAccount* const account_ = MemoryAccount::Open();
};

constexpr int64_t kRowBytes = 400;

std::vector<ir::ColumnType> RowTypes() { return {ir::ColumnType::Of(DType::kFloat32, {100})}; }

std::unique_ptr<BatchSlots> SlotsOf(const Account& account, int64_t rows, int64_t skipped = 0) {
  return std::make_unique<BatchSlots>(account.source(), rows, RowTypes(), skipped, EpochRange{0, 10},
                                      [](uint64_t epoch) { return epoch; });
}

TEST(BatchSlots, SaysWhatRowsBegin) {
  Account account;
  auto slots = SlotsOf(account, 4);
  EXPECT_EQ(slots->BytesBegunBy(1), 4 * kRowBytes);
  EXPECT_EQ(slots->BytesBegunBy(4), 4 * kRowBytes);
  EXPECT_EQ(slots->BytesBegunBy(5), 8 * kRowBytes);
  slots->Next();
  EXPECT_EQ(slots->BytesBegunBy(3), 0);
  EXPECT_EQ(slots->BytesBegunBy(4), 4 * kRowBytes);
  EXPECT_EQ(slots->BytesBegunBy(8), 8 * kRowBytes);
  slots = SlotsOf(account, 4, 2);
  EXPECT_EQ(slots->BytesBegunBy(2), 0);
  EXPECT_EQ(slots->BytesBegunBy(3), 4 * kRowBytes);
}

// What was reserved is held from the reservation on, turned into memory once, and given back where it is not used.
TEST(BatchSlots, TurnsWhatIsReservedIntoMemory) {
  Account account;
  const auto held = [&account] { return account.held(); };
  auto slots = SlotsOf(account, 4);
  const int64_t begun = slots->BytesBegunBy(5);
  account.Charge(begun);
  slots->Keep(begun);
  EXPECT_EQ(slots->BytesBegunBy(5), 0);
  {
    const BatchSlots::Slot slot = slots->Next();
    EXPECT_EQ(held(), 8 * kRowBytes);
    ASSERT_TRUE(slot.memory->SlotOf(0, slot.row).valid());
    EXPECT_GE(held(), 8 * kRowBytes);
    EXPECT_LT(held(), 9 * kRowBytes) << "the batch is not counted twice";
    for (int row = 1; row < 4; ++row) slots->Next();
  }
  {
    const BatchSlots::Slot unused = slots->Next();
    slots->EndEpoch(0);
    EXPECT_EQ(held(), 4 * kRowBytes) << "the first batch is gone";
  }
  EXPECT_EQ(held(), 0);
  account.Charge(100);
  slots->Keep(100);
  slots.reset();
  EXPECT_EQ(held(), 0);
}

TEST(BatchSlots, HoldsNoBatchWhoseRowsHaveTheirSlots) {
  Account account;
  auto slots = SlotsOf(account, 3);
  for (int batch = 0; batch < 2; ++batch) {
    std::weak_ptr<BatchMemory> memory;
    for (int row = 0; row < 3; ++row) memory = slots->Next().memory;
    EXPECT_TRUE(memory.expired());
  }
}

TEST(BatchSlots, NeedsABudgetOfThreeBatches) {
  EXPECT_TRUE(BatchSlots::Useful(10, RowTypes(), 30 * kRowBytes));
  EXPECT_FALSE(BatchSlots::Useful(10, RowTypes(), 30 * kRowBytes - 1));
  EXPECT_FALSE(BatchSlots::Useful(10, {ir::ColumnType::Of(DType::kFloat32, {4})}, 1 << 20)) << "too small to place";
}

}  // namespace
}  // namespace headrace
