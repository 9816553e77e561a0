#include "engine/cache/row_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace headrace {
namespace {

constexpr size_t kRow = 300'000;

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0;
  int64_t resident = 0;
  statm >> size >> resident;
  return resident * 4096;
}

BufferRef Filled(RowMemory& memory, size_t bytes, int with) {
  BufferRef row = memory.Allocate(bytes);
  EXPECT_TRUE(row);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(row->data()) % kBufferAlignment, 0u);
  std::memset(row->data(), with, bytes);
  return row;
}

bool Holds(const BufferRef& row, size_t bytes, int with) {
  for (size_t i = 0; i < bytes; ++i) {
    if (row->data()[i] != with) return false;
  }
  return true;
}

TEST(RowMemory, KeepsRowsOfAllSizesApart) {
  RowMemory memory;
  std::vector<std::pair<BufferRef, size_t>> rows;
  for (size_t i = 0; i < 60; ++i) {
    const size_t bytes = i % 5 == 0 ? 100 + i : i % 5 == 1 ? 3'000'000 + i : kRow + i;
    rows.emplace_back(Filled(memory, bytes, static_cast<int>(i)), bytes);
  }
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_TRUE(Holds(rows[i].first, rows[i].second, static_cast<int>(i))) << i;
}

TEST(RowMemory, OutlivesWhatGaveIt) {
  auto memory = std::make_unique<RowMemory>();
  const BufferRef row = Filled(*memory, kRow, 7);
  memory.reset();
  EXPECT_TRUE(Holds(row, kRow, 7));
}

TEST(RowMemory, GivesBackWhatGoesAndLeavesItsNeighbours) {
  RowMemory memory;
  std::vector<BufferRef> rows;
  for (int i = 0; i < 400; ++i) rows.push_back(Filled(memory, kRow, i % 100));
  const int64_t before = ResidentBytes();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i % 2 == 0) rows[i] = BufferRef();
  }
  EXPECT_LT(ResidentBytes(), before - 200 * static_cast<int64_t>(kRow) / 10 * 8);
  for (size_t i = 1; i < rows.size(); i += 2) EXPECT_TRUE(Holds(rows[i], kRow, static_cast<int>(i % 100))) << i;
}

TEST(RowMemory, ServesManyThreads) {
  RowMemory memory;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&memory, t] {
      std::vector<BufferRef> rows;
      for (int i = 0; i < 40; ++i) rows.push_back(Filled(memory, kRow, t));
      for (const BufferRef& row : rows) EXPECT_TRUE(Holds(row, kRow, t));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace headrace
