#include "ops/row_batch.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

Block RowOf(Tensor value) {
  Block block;
  std::vector<Tensor> columns = {std::move(value)};
  AppendRow(block, {}, {}, columns);
  return block;
}

// Rows of one size are copied into memory taken with the first.
TEST(RowBatch, TakesMemoryForTheFirstRowAlone) {
  RowBatch batch(3, {"value"}, std::nullopt);
  EXPECT_EQ(batch.expected_bytes(), std::nullopt);
  for (int row = 0; row < 2; ++row) {
    Block block = RowOf(*Tensor::Allocate(DType::kFloat32, {100}));
    batch.Add(block, 0, 1);
    EXPECT_EQ(batch.expected_bytes(), 0);
  }
  Block block = RowOf(*Tensor::Allocate(DType::kFloat32, {100}));
  batch.Add(block, 0, 1);
  ASSERT_TRUE(batch.Take(0, false).ok());
  EXPECT_EQ(batch.expected_bytes(), std::nullopt);
}

// Others wait, and are copied at the end.
TEST(RowBatch, TakesMemoryForRowsThatWaitAtTheEnd) {
  RowBatch batch(3, {"value"}, std::nullopt);
  int64_t waiting = 0;
  for (int row = 1; row < 3; ++row) {
    const Tensor text = *Tensor::CopyBytes(DType::kBytes, std::string(static_cast<size_t>(1000 * row), 'x'));
    waiting += static_cast<int64_t>(text.bytes());
    Block block = RowOf(text);
    batch.Add(block, 0, 1);
    EXPECT_EQ(batch.expected_bytes(), waiting);
  }
  batch.Clear();
  EXPECT_EQ(batch.expected_bytes(), std::nullopt);
}

}  // namespace
}  // namespace headrace
