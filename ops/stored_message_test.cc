#include "ops/stored_message.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <random>
#include <string>

namespace headrace {
namespace {

const ir::Schema kSchema{{{"value", ir::ColumnType::Of(DType::kInt64, {})},
                          {"name", ir::ColumnType::Of(DType::kString, {ir::kUnknownDim})}}};

Block SomeBlock() {
  Block block;
  block.checkpoint = {4, 5};
  for (int64_t row = 0; row < 3; ++row) {
    absl::InlinedVector<Tensor, 2> columns = {
        *Tensor::Scalar(row), *Tensor::CopyBytesArray(DType::kString, {row}, std::vector<std::string_view>(row, "x"))};
    Provenance provenance;
    if (row > 0) provenance = {std::make_shared<const std::string>("file"), row, 7};
    AppendRow(block, {2, static_cast<uint64_t>(10 + row), row == 1}, provenance, columns);
  }
  return block;
}

TEST(StoredMessage, ComesBack) {
  const Block block = SomeBlock();
  const Message read = ReadMessage(*WriteMessage(block), kSchema, 2, 9, 3);
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->epoch, 9u);
  EXPECT_EQ(read->checkpoint, block.checkpoint);
  ASSERT_EQ(read->rows(), 3);
  for (int row = 0; row < 3; ++row) {
    EXPECT_EQ(read->ids[row], (RowId{3, block.ids[row].key, row == 1}));
    EXPECT_EQ(DescribeProvenance(read->provenances[row]), DescribeProvenance(block.provenances[row]));
    for (size_t c = 0; c < 2; ++c) EXPECT_TRUE(TensorsEqual(read->columns[c].row(row), block.columns[c].row(row)));
  }
}

TEST(StoredMessage, RefusesWhatFitsNoSuchMessage) {
  const std::vector<Tensor> whole = *WriteMessage(SomeBlock());
  EXPECT_EQ(ReadMessage(whole, kSchema, 1, 0, 0), nullptr) << "other checkpoint";
  EXPECT_EQ(ReadMessage(whole, {{kSchema.columns[0]}}, 2, 0, 0), nullptr) << "other columns";
  for (size_t left = 0; left < whole.size(); ++left) {
    EXPECT_EQ(ReadMessage({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(left)}, kSchema, 2, 0, 0),
              nullptr);
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::vector<Tensor> other = whole;
    other[at] = *Tensor::Scalar(float{1});
    EXPECT_EQ(ReadMessage(other, kSchema, 2, 0, 0), nullptr) << at;
  }
}

// Sanitizers see where it would leave what is there.
TEST(StoredMessage, SurvivesAnyNumbers) {
  const std::vector<Tensor> whole = *WriteMessage(SomeBlock());
  const Tensor& numbers = whole[whole.size() - 2];
  std::mt19937_64 random(1);
  constexpr int kRounds = 20'000;
  int read = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Tensor> other = whole;
    Tensor changed = *Tensor::Allocate(DType::kInt64, numbers.shape());
    numbers.CopyTo(changed.mutable_raw());
    for (uint64_t i = 1 + random() % 3; i > 0; --i) {
      changed.mutable_data<int64_t>()[random() % static_cast<uint64_t>(changed.dim(0))] =
          static_cast<int64_t>(random() >> random() % 64);
    }
    other[other.size() - 2] = changed;
    read += ReadMessage(std::move(other), kSchema, 2, 0, 0) != nullptr ? 1 : 0;
  }
  EXPECT_GT(read, 0) << "some numbers are keys";
  std::printf("HEADRACE-COUNT fuzz=%d\n", kRounds);
}

}  // namespace
}  // namespace headrace
