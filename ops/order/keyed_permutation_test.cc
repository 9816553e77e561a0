#include "ops/order/keyed_permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/philox.h"
#include "core/testing/chi_square.h"
#include "ops/testing/permutation_chance.h"

namespace headrace {
namespace {

DrawPermutation DrawnKeyedPermutation(uint64_t size) {
  return [size](uint64_t draw) {
    const KeyedPermutation permutation(size, RowRandom::KeyOf(1, size, draw));
    DrawnPermutation indices;
    for (uint64_t position = 0; position < size; ++position) indices.push_back(permutation.At(position));
    return indices;
  };
}

TEST(KeyedPermutation, HitsEveryIndexOnce) {
  for (uint64_t size = 1; size < 400; ++size) {
    std::vector<bool> seen(size);
    for (const uint64_t index : DrawnKeyedPermutation(size)(size)) {
      ASSERT_LT(index, size);
      ASSERT_FALSE(seen[index]) << "size " << size;
      seen[index] = true;
    }
  }
}

TEST(KeyedPermutation, IsAnotherOneForEveryKey) {
  EXPECT_EQ(DrawnKeyedPermutation(64)(1), DrawnKeyedPermutation(64)(1));
  EXPECT_NE(DrawnKeyedPermutation(64)(1), DrawnKeyedPermutation(64)(2));
}

// Where a Feistel network over an even number of bits would give even ones alone, and elsewhere.
TEST(KeyedPermutation, IsOddAsOftenAsEven) {
  for (const uint64_t size : {16, 64, 100, 256, 1000}) {
    EXPECT_LT(std::abs(ParityDeviation(4000, DrawnKeyedPermutation(size))), kMostDeviation) << size;
  }
}

TEST(KeyedPermutation, PutsEveryIndexAnywhere) {
  for (const uint64_t size : {16, 23, 64}) {
    EXPECT_LT(std::abs(PositionsDeviation(size, 20'000, DrawnKeyedPermutation(size))), kMostDeviation) << size;
    EXPECT_LT(std::abs(FixedPointsDeviation(20'000, DrawnKeyedPermutation(size))), kMostDeviation) << size;
    for (const uint64_t second : {uint64_t{1}, size - 1}) {
      EXPECT_LT(std::abs(PairsDeviation(size, 0, second, 20'000, DrawnKeyedPermutation(size))), kMostDeviation) << size;
    }
  }
}

TEST(KeyedPermutation, HasNothingToDoWithThatOfTheNextEpoch) {
  for (const uint64_t size : {16, 100}) {
    const auto between = [draw = DrawnKeyedPermutation(size)](uint64_t epoch) { return Between(draw(epoch), draw(epoch + 1)); };
    EXPECT_LT(std::abs(PositionsDeviation(size, 10'000, between)), kMostDeviation) << size;
    EXPECT_LT(std::abs(FixedPointsDeviation(10'000, between)), kMostDeviation) << size;
    EXPECT_LT(std::abs(ParityDeviation(10'000, between)), kMostDeviation) << size;
  }
}

// The sizes that it is used for: few positions of many draws, in cells of 2^10 rows.
TEST(KeyedPermutation, SpreadsTheRowsOfLargeSources) {
  for (const uint64_t size : {uint64_t{65'537}, uint64_t{1'281'167}, uint64_t{1} << 40}) {
    for (const uint64_t position : {uint64_t{0}, uint64_t{1}, size / 2, size - 1}) {
      std::vector<int64_t> counts(64);
      for (uint64_t draw = 0; draw < 20'000; ++draw) {
        const KeyedPermutation permutation(size, RowRandom::KeyOf(1, size, draw));
        const auto share = static_cast<double>(permutation.At(position)) / static_cast<double>(size);
        ++counts[static_cast<size_t>(share * 64)];
      }
      EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation) << position << " of " << size;
    }
  }
}

// Adjacent rows are separated: the distance of their indices is uniform.
TEST(KeyedPermutation, SeparatesNeighbours) {
  constexpr uint64_t kSize = 1'281'167;
  const KeyedPermutation permutation(kSize, RowRandom::KeyOf(1, 2, 3));
  std::vector<int64_t> counts(64);
  for (uint64_t position = 0; position + 1 < kSize; ++position) {
    const uint64_t step = (permutation.At(position + 1) + kSize - permutation.At(position)) % kSize;
    ++counts[step * 64 / kSize];
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

TEST(KeyedPermutation, CoversHugeSizes) {
  constexpr uint64_t kSize = (uint64_t{1} << 63) + 12345;
  const KeyedPermutation permutation(kSize, 0);
  for (uint64_t position : {uint64_t{0}, uint64_t{1}, kSize - 1}) EXPECT_LT(permutation.At(position), kSize);
}

}  // namespace
}  // namespace headrace
