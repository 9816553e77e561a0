#include "ops/source/permutation.h"

#include <gtest/gtest.h>

#include <vector>

namespace headrace {
namespace {

TEST(KeyedPermutation, HitsEveryIndexOnce) {
  for (uint64_t size = 1; size < 400; ++size) {
    const KeyedPermutation permutation(size, 1, 2, size);
    std::vector<bool> seen(size);
    for (uint64_t position = 0; position < size; ++position) {
      const uint64_t index = permutation.At(position);
      ASSERT_LT(index, size);
      ASSERT_FALSE(seen[index]) << "size " << size;
      seen[index] = true;
    }
  }
}

TEST(KeyedPermutation, IsAnotherOneForEveryEpochSaltAndSeed) {
  const auto order = [](uint64_t seed, uint64_t salt, uint64_t epoch) {
    std::vector<uint64_t> indices;
    for (uint64_t position = 0; position < 64; ++position) {
      indices.push_back(KeyedPermutation(64, seed, salt, epoch).At(position));
    }
    return indices;
  };
  EXPECT_EQ(order(1, 2, 3), order(1, 2, 3));
  EXPECT_NE(order(1, 2, 3), order(1, 2, 4));
  EXPECT_NE(order(1, 2, 3), order(1, 3, 3));
  EXPECT_NE(order(1, 2, 3), order(2, 2, 3));
}

// Each index should stand at each position about equally often: chi-square with 63 degrees of freedom, far tail.
TEST(KeyedPermutation, SpreadsEvenly) {
  constexpr int kSize = 64;
  constexpr int kEpochs = 6400;
  for (uint64_t position : {0, 1, 31, 63}) {
    std::vector<int> counts(kSize);
    for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) ++counts[KeyedPermutation(kSize, 5, 6, epoch).At(position)];
    double chi_square = 0;
    for (int count : counts) chi_square += (count - 100.0) * (count - 100.0) / 100.0;
    EXPECT_LT(chi_square, 120) << "position " << position;
  }
}

TEST(KeyedPermutation, CoversHugeSizes) {
  constexpr uint64_t kSize = (uint64_t{1} << 40) + 12345;
  const KeyedPermutation permutation(kSize, 0, 0, 0);
  for (uint64_t position : {uint64_t{0}, uint64_t{1}, kSize - 1}) EXPECT_LT(permutation.At(position), kSize);
}

}  // namespace
}  // namespace headrace
