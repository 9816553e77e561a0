#include "ops/rows/gather_rows.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string_view>
#include <vector>

namespace headrace {
namespace {

Tensor Splits(const std::vector<int64_t>& numbers) {
  Tensor splits = *Tensor::Allocate(DType::kInt64, {static_cast<int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), splits.mutable_data<int64_t>());
  return splits;
}

// Three rows: ragged floats, ragged texts and whole numbers.
Block RaggedBlock(float first) {
  Block block;
  Tensor values = *Tensor::Allocate(DType::kFloat32, {4, 2});
  std::iota(values.mutable_data<float>(), values.mutable_data<float>() + values.elements(), first);
  block.columns.push_back(BlockColumn::Ragged(std::move(values), Splits({0, 3, 3, 4})));
  const std::vector<std::string_view> texts = {"a", "", "bc", "d"};
  block.columns.push_back(
      BlockColumn::Ragged(*Tensor::CopyBytesArray(DType::kString, {4}, texts), Splits({1, 2, 4, 4})));
  Tensor numbers = *Tensor::Allocate(DType::kInt64, {3});
  std::iota(numbers.mutable_data<int64_t>(), numbers.mutable_data<int64_t>() + 3, static_cast<int64_t>(first));
  block.columns.push_back(BlockColumn::Stacked(std::move(numbers)));
  for (uint64_t i = 0; i < 3; ++i) {
    block.ids.push_back({0, static_cast<uint64_t>(first) + i});
    block.provenances.push_back({});
  }
  return block;
}

TEST(GatherRows, JoinsRaggedRowsOfSeveralBlocks) {
  Block a = RaggedBlock(0);
  Block b = RaggedBlock(100);
  const std::vector<RowInBlock> rows = {{&b, 2}, {&a, 0}, {&b, 1}, {&a, 2}, {&a, 1}};
  const Message joined = GatherRows(rows);
  ASSERT_EQ(joined->rows(), 5);
  EXPECT_TRUE(joined->columns[0].ragged() && joined->columns[1].ragged() && joined->columns[2].in_runs());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<int>(i);
    EXPECT_EQ(joined->ids[i].key, rows[i].block->ids[static_cast<size_t>(rows[i].row)].key);
    for (size_t c = 0; c < 3; ++c) {
      EXPECT_TRUE(TensorsEqual(joined->columns[c].row(row), rows[i].block->columns[c].row(rows[i].row)))
          << i << " " << c;
    }
  }
}

TEST(GatherRows, MovesRowsWhoseOtherAxesDiffer) {
  Block a = RaggedBlock(0);
  Block b = RaggedBlock(100);
  b.columns[0] = BlockColumn::Ragged(*Tensor::Allocate(DType::kFloat32, {0, 3}), Splits({0, 0, 0, 0}));
  const std::vector<RowInBlock> rows = {{&b, 2}, {&a, 0}};
  const Message joined = GatherRows(rows);
  EXPECT_FALSE(joined->columns[0].ragged());
  EXPECT_EQ(joined->columns[0].row(0).TypeName(), "float32 (0, 3)");
  EXPECT_EQ(joined->columns[0].row(1).TypeName(), "float32 (3, 2)");
}

}  // namespace
}  // namespace headrace
