#include "io/files/http/curl/transfer_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace headrace::http {
namespace {

constexpr size_t kTransferBuffer = (size_t{512} << 10) + 1;

TEST(TransferMemoryTest, GivesAFreedBufferAgain) {
  TransferMemory memory;
  void* const first = memory.Allocate(kTransferBuffer);
  memory.Free(first);
  EXPECT_GT(memory.kept_bytes(), 0u);
  void* const second = memory.Allocate(kTransferBuffer);
  EXPECT_EQ(second, first);
  EXPECT_EQ(memory.kept_bytes(), 0u);
  memory.Free(second);
}

TEST(TransferMemoryTest, GivesNoBlockThatIsTooSmall) {
  TransferMemory memory;
  for (size_t bytes = 1; bytes < (size_t{4} << 20); bytes = bytes * 5 / 4 + 1) {
    memory.Free(std::malloc(bytes));
    void* const block = memory.Allocate(bytes + 1);
    ASSERT_NE(block, nullptr);
    std::memset(block, 1, bytes + 1);
    memory.Free(block);
  }
  memory.Free(nullptr);
}

TEST(TransferMemoryTest, KeepsSoMuchAtMost) {
  TransferMemory memory;
  std::vector<void*> blocks;
  for (size_t bytes = 0; bytes < 2 * TransferMemory::kMostKept; bytes += kTransferBuffer) {
    blocks.push_back(memory.Allocate(kTransferBuffer));
  }
  for (void* const block : blocks) memory.Free(block);
  EXPECT_LE(memory.kept_bytes(), TransferMemory::kMostKept);
  EXPECT_GT(memory.kept_bytes(), TransferMemory::kMostKept - 2 * kTransferBuffer);
}

TEST(TransferMemoryTest, KeepsNoSmallBlock) {
  TransferMemory memory;
  memory.Free(memory.Allocate(1000));
  EXPECT_EQ(memory.kept_bytes(), 0u);
}

}  // namespace
}  // namespace headrace::http
