#include "ops/order/uniform_permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "core/philox.h"
#include "core/testing/chi_square.h"
#include "ops/testing/permutation_chance.h"

namespace headrace {
namespace {

DrawnPermutation WrittenOut(uint64_t size, uint64_t key) {
  const UniformPermutation permutation(size, key);
  DrawnPermutation indices;
  for (uint64_t position = 0; position < size; ++position) indices.push_back(permutation.At(position));
  return indices;
}

TEST(UniformPermutation, HitsEveryIndexOnce) {
  for (const uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{257}, UniformPermutation::kMostRows}) {
    std::vector<bool> seen(size);
    for (const uint64_t index : WrittenOut(size, 3)) {
      ASSERT_LT(index, size);
      ASSERT_FALSE(seen[index]);
      seen[index] = true;
    }
  }
}

// Saved states go by these orders; computed apart, by the definitions.
TEST(UniformPermutation, KeepsItsOrder) {
  const uint64_t key = RowRandom::KeyOf(7, 11, 3);
  EXPECT_EQ(WrittenOut(10, key), (DrawnPermutation{4, 7, 5, 6, 1, 2, 0, 8, 9, 3}));
}

TEST(UniformPermutation, IsAnyPermutationEquallyOften) {
  for (uint64_t size = 2; size <= 7; ++size) {
    const auto draw = [size](uint64_t draw) { return WrittenOut(size, RowRandom::KeyOf(1, size, draw)); };
    EXPECT_LT(std::abs(AllPermutationsDeviation(size, 100'000, draw)), kMostDeviation) << size;
  }
}

TEST(UniformPermutation, IsSharedByAllWhoHoldItAtATime) {
  std::vector<std::shared_ptr<const UniformPermutation>> held(8);
  std::vector<std::thread> threads;
  for (auto& mine : held) threads.emplace_back([&mine] { mine = UniformPermutation::Shared(5000, 17); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : held) EXPECT_EQ(mine, held[0]);
  EXPECT_EQ(held[0]->key(), 17u);
  EXPECT_EQ(held[0]->bytes(), 10'000u);
  EXPECT_NE(UniformPermutation::Shared(5000, 18), held[0]);
  EXPECT_NE(UniformPermutation::Shared(4999, 17), held[0]);
  const std::weak_ptr<const UniformPermutation> gone = held[0];
  held.clear();
  EXPECT_TRUE(gone.expired());
}

}  // namespace
}  // namespace headrace
