#include "ops/cache/stored_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <string>

#include "core/error.h"

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

FailedRow SomeFailure(uint64_t key) {
  FailedRow row;
  row.id.key = key;
  row.provenance = {std::make_shared<const std::string>("photos/1.jpg"), 3, -1};
  row.error = NotFoundError("it is gone");
  AddErrorField(row.error, ErrorField::kOperator, "map[1] Decode");
  return row;
}

Message Failed(bool tombstone, bool removed) {
  Message block = tombstone ? MakeTombstone(2, {4, 5}, SomeFailure(8)) : std::make_unique<Block>(SomeBlock());
  if (!removed) return block;
  block->continues = true;
  block->removed = std::make_unique<std::vector<FailedRow>>();
  block->removed->push_back(SomeFailure(6));
  block->removed->push_back(SomeFailure(7));
  return block;
}

TEST(StoredMessage, ComesBackWithRowsThatFailed) {
  for (const auto& [tombstone, removed] : {std::pair(true, false), std::pair(true, true), std::pair(false, true)}) {
    const Message block = Failed(tombstone, removed);
    const Message read = ReadMessage(*WriteMessage(*block), kSchema, 2, 9, 3);
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(read->tombstone(), tombstone);
    EXPECT_EQ(read->continues, removed);
    EXPECT_EQ(read->rows(), block->rows());
    EXPECT_EQ(read->columns.size(), tombstone ? 0u : 2u);
    EXPECT_EQ(read->checkpoint, block->checkpoint);
    if (tombstone) {
      EXPECT_EQ(read->ids[0].key, 8u);
      EXPECT_EQ(DescribeError(read->error), DescribeError(block->error));
      EXPECT_EQ(KindOf(read->error), ErrorKind::kNotFound);
    }
    ASSERT_EQ(read->removed != nullptr, removed);
    if (!removed) continue;
    ASSERT_EQ(read->removed->size(), 2u);
    EXPECT_EQ(read->removed->back().id.key, 7u);
    EXPECT_EQ(DescribeProvenance(read->removed->front().provenance), "photos/1.jpg, record 3");
    EXPECT_EQ(DescribeError(read->removed->back().error), DescribeError(SomeFailure(7).error));
  }
  // Without any row.
  Block note;
  note.checkpoint = {4, 5};
  note.removed = std::make_unique<std::vector<FailedRow>>();
  note.removed->push_back(SomeFailure(6));
  const Message read = ReadMessage(*WriteMessage(note), kSchema, 2, 9, 3);
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->rows(), 0);
  EXPECT_EQ(read->removed->size(), 1u);
}

TEST(StoredMessage, RefusesWhatSaysNothingOfRowsThatFailed) {
  for (const auto& [tombstone, removed] : {std::pair(true, false), std::pair(false, true)}) {
    const std::vector<Tensor> whole = *WriteMessage(*Failed(tombstone, removed));
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
}

void CheckAnyNumbers(const std::vector<Tensor>& whole, size_t at) {
  const Tensor& numbers = whole[at];
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
    other[at] = changed;
    read += ReadMessage(std::move(other), kSchema, 2, 0, 0) != nullptr ? 1 : 0;
  }
  EXPECT_GT(read, 0) << "some numbers are keys";
  std::printf("HEADRACE-COUNT fuzz=%d\n", kRounds);
}

// Sanitizers see where it would leave what is there.
TEST(StoredMessage, SurvivesAnyNumbers) {
  const std::vector<Tensor> plain = *WriteMessage(SomeBlock());
  CheckAnyNumbers(plain, plain.size() - 2);
  const std::vector<Tensor> failed = *WriteMessage(*Failed(false, true));
  CheckAnyNumbers(failed, failed.size() - 2);
  CheckAnyNumbers(failed, failed.size() - 4);
}

}  // namespace
}  // namespace headrace
