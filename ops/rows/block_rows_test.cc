#include "ops/rows/block_rows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace headrace {
namespace {

constexpr size_t kBlock = size_t{1} << 16;
constexpr size_t kRow = 1000;

// Rows that are views of one block of a file.
Block Views(int rows) {
  const BufferRef buffer = BufferPool::Global().Allocate(kBlock);
  Block block;
  BlockColumn column;
  for (int i = 0; i < rows; ++i) {
    uint8_t* const data = buffer->data() + static_cast<size_t>(i) * kRow;
    std::memset(data, 'a' + i, kRow);
    column.Append(Tensor::ViewBytes(DType::kBytes, buffer, data, kRow));
    block.ids.push_back({0, static_cast<uint64_t>(i)});
    block.provenances.push_back({});
  }
  block.columns.push_back(std::move(column));
  return block;
}

TEST(BlockRows, LeavesTheNeighboursOfKeptRows) {
  for (const std::vector<int>& kept : {std::vector<int>{1}, {0, 2}, {0, 1, 2}}) {
    Block block = Views(3);
    KeepRows(block, kept);
    ASSERT_EQ(block.rows(), static_cast<int>(kept.size()));
    for (int i = 0; i < block.rows(); ++i) {
      const Tensor row = block.columns[0].row(i);
      EXPECT_EQ(row.bytes_value(), std::string(kRow, static_cast<char>('a' + kept[static_cast<size_t>(i)])));
      EXPECT_LE(row.footprint(), 2 * kRow);
      EXPECT_EQ(block.ids[static_cast<size_t>(i)].key, static_cast<uint64_t>(kept[static_cast<size_t>(i)]));
    }
  }
}

// The same rows as a table of views.
Block Spans(int rows) {
  Block block = Views(rows);
  const Tensor first = block.columns[0].row(0);
  const BufferRef table = BufferPool::Global().Allocate(2 * sizeof(int64_t) * static_cast<size_t>(rows));
  auto* span = reinterpret_cast<int64_t*>(table->data());
  for (int i = 0; i < rows; ++i) {
    *span++ = i * static_cast<int64_t>(kRow);
    *span++ = (i + 1) * static_cast<int64_t>(kRow);
  }
  block.columns[0] = BlockColumn::Stacked(Tensor::ViewSpans(DType::kBytes, {rows}, first.buffer(), table));
  return block;
}

TEST(BlockRows, CopiesRowsOutOfATableOfViews) {
  for (const std::vector<int>& kept : {std::vector<int>{1}, {0, 2}, {0, 1, 2}}) {
    Block block = Spans(3);
    EXPECT_LT(block.columns[0].footprint(), 4 * kRow);
    KeepRows(block, kept);
    ASSERT_EQ(block.rows(), static_cast<int>(kept.size()));
    EXPECT_LE(block.columns[0].row(0).footprint(), 2 * kRow * kept.size());
    for (int i = 0; i < block.rows(); ++i) {
      EXPECT_EQ(block.columns[0].row(i).bytes_value(),
                std::string(kRow, static_cast<char>('a' + kept[static_cast<size_t>(i)])));
    }
  }
}

TEST(BlockRows, LeavesARowWhoseMemoryIsItsOwn) {
  Block block = Views(0);
  const Tensor own = *Tensor::CopyBytes(DType::kBytes, std::string(kRow, 'x'));
  block.columns[0].Append(own);
  block.ids.push_back({});
  block.provenances.push_back({});
  KeepRows(block, {0});
  EXPECT_EQ(block.columns[0].row(0).raw(), own.raw());
}

TEST(BlockRows, CountsOfASharedBlockWhatRowsAreOfIt) { EXPECT_EQ(Views(3).columns[0].footprint(), 3 * kRow); }

}  // namespace
}  // namespace headrace
