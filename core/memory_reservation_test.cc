#include "core/memory_reservation.h"

#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(MemoryReservation, IsChargedToTheTaskWhileItStands) {
  MemoryAccount* const account = MemoryAccount::Open();
  {
    TaskMemory task(&BufferPool::Global(), account, 0);
    {
      const MemoryReservation reservation(1000);
      EXPECT_EQ(account->held(), 1000);
    }
    // Only the end of the task gives it back to the account; the task may take it again meanwhile.
    EXPECT_EQ(task.peak(), 1000);
  }
  EXPECT_EQ(account->held(), 0);
  EXPECT_EQ(account->peak(), 1000);
  account->Close();
  const MemoryReservation outside(1000);
}

}  // namespace
}  // namespace headrace
