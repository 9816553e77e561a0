#include "engine/cache/row_record.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

namespace headrace {
namespace {

BufferRef HoldNothing(size_t /*bytes*/) { return BufferPool::Global().Allocate(1); }

std::vector<Tensor> SomeRow() {
  Tensor image = *Tensor::Allocate(DType::kUInt8, {3, 5, 2});
  for (int i = 0; i < 30; ++i) image.mutable_raw()[i] = static_cast<uint8_t>(i * 7);
  return {image, *Tensor::Scalar(int32_t{17}), *Tensor::CopyBytes(DType::kBytes, "some bytes"),
          *Tensor::CopyBytes(DType::kString, ""),
          *Tensor::CopyBytesArray(DType::kString, {2, 2}, {"a", "", "ccc", "dd"}),
          // A path, whose bytes are any.
          *Tensor::CopyBytes(DType::kString, "caf\xe9\n"), *Tensor::Allocate(DType::kFloat32, {0, 4}),
          image.Slice(1, 1, 3)};
}

std::vector<uint8_t> Written(absl::Span<const Tensor> row) {
  std::vector<uint8_t> bytes(RecordBytes(row), 0xee);
  WriteRecord(row, bytes.data());
  return bytes;
}

TEST(RowRecord, GivesBackTheTensors) {
  const std::vector<Tensor> row = SomeRow();
  const std::vector<uint8_t> bytes = Written(row);
  const auto read = ReadRecord(bytes, HoldNothing);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), row.size());
  for (size_t i = 0; i < row.size(); ++i) EXPECT_TRUE(TensorsEqual((*read)[i], row[i])) << i;
  EXPECT_EQ(((*read)[0].raw() - bytes.data()) % static_cast<std::ptrdiff_t>(kBufferAlignment), 0);
}

TEST(RowRecord, OfNoTensorsIsOne) {
  const auto read = ReadRecord(Written({}), HoldNothing);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->empty());
}

// Sanitizers report a reader that leaves the bytes it was given.
TEST(RowRecord, SurvivesAnyBytes) {
  const std::vector<uint8_t> whole = Written(SomeRow());
  std::mt19937_64 random(5);
  constexpr int kRounds = 20'000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<uint8_t> bytes = whole;
    bytes.resize(random() % 3 == 0 ? random() % whole.size() : whole.size());
    for (uint64_t i = random() % 4; i > 0 && !bytes.empty(); --i) {
      bytes[random() % std::min<size_t>(bytes.size(), 400)] = static_cast<uint8_t>(random());
    }
    const auto read = ReadRecord(std::vector<uint8_t>(bytes), HoldNothing);
    (void)read.ok();
  }
  std::printf("HEADRACE-COUNT fuzz=%d\n", kRounds);
}

}  // namespace
}  // namespace headrace
