#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/operator/block.h"

namespace headrace {
namespace {

// Rows of 2, 0, 1 and 3 numbers, after one number of another row.
BlockColumn RaggedRowsOfFour() {
  Tensor values = *Tensor::Allocate(DType::kInt64, {7});
  std::iota(values.mutable_data<int64_t>(), values.mutable_data<int64_t>() + 7, 10);
  const std::vector<int64_t> numbers = {1, 3, 3, 4, 7};
  Tensor splits = *Tensor::Allocate(DType::kInt64, {5});
  std::copy(numbers.begin(), numbers.end(), splits.mutable_data<int64_t>());
  return BlockColumn::Ragged(std::move(values), std::move(splits));
}

std::vector<int64_t> NumbersOf(const Tensor& row) { return {row.data<int64_t>(), row.data<int64_t>() + row.dim(0)}; }

std::vector<std::vector<int64_t>> NumbersOf(const BlockColumn& column) {
  std::vector<std::vector<int64_t>> rows;
  for (int i = 0; i < column.rows(); ++i) rows.push_back(NumbersOf(column.row(i)));
  return rows;
}

using Rows = std::vector<std::vector<int64_t>>;

TEST(BlockColumn, GivesRaggedRowsAsViews) {
  BlockColumn column = RaggedRowsOfFour();
  EXPECT_EQ(NumbersOf(column), (Rows{{11, 12}, {}, {13}, {14, 15, 16}}));
  EXPECT_EQ(column.TakeRow(3).raw(), column.values().raw() + 4 * sizeof(int64_t));
  EXPECT_EQ(NumbersOf(column.ValuesOf(2, 2)), (std::vector<int64_t>{13, 14, 15, 16}));
  EXPECT_EQ(column.bytes(), 6 * sizeof(int64_t));
}

TEST(BlockColumn, TakesRunsOfRaggedRows) {
  BlockColumn column = RaggedRowsOfFour();
  const BlockColumn taken = column.TakeRows(2, 2);
  EXPECT_TRUE(taken.ragged());
  EXPECT_EQ(NumbersOf(taken), (Rows{{13}, {14, 15, 16}}));
  column.Truncate(3);
  EXPECT_TRUE(column.ragged());
  EXPECT_EQ(NumbersOf(column), (Rows{{11, 12}, {}, {13}}));
  column.Truncate(0);
  EXPECT_EQ(column.rows(), 0);
  EXPECT_EQ(column.bytes(), 0u);
}

TEST(BlockColumn, GivesRaggedRowsTensorsOfTheirOwnToBeChanged) {
  BlockColumn column = RaggedRowsOfFour();
  column.SetRow(1, column.row(3));
  EXPECT_FALSE(column.ragged());
  column.Append(column.row(0));
  EXPECT_EQ(NumbersOf(column), (Rows{{11, 12}, {14, 15, 16}, {13}, {14, 15, 16}, {11, 12}}));
}

}  // namespace
}  // namespace headrace
