#include "ops/group/rising_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace headrace {
namespace {

TEST(RisingNumbers, KeepTheirOrder) {
  std::mt19937 draws(3);
  RisingNumbers numbers;
  std::set<uint64_t> expected;
  for (uint64_t next = 0; next < 500;) {
    if (expected.empty() || draws() % 2 == 0) {
      next += 1 + draws() % 3;
      numbers.Add(next);
      expected.insert(next);
    } else {
      const auto gone = std::next(expected.begin(), static_cast<std::ptrdiff_t>(draws() % expected.size()));
      numbers.Remove(*gone);
      numbers.Remove(*gone);
      expected.erase(gone);
    }
    Checkpoint checkpoint = {7};
    numbers.AppendTo(checkpoint);
    ASSERT_EQ(numbers.size(), expected.size());
    ASSERT_EQ(checkpoint[0], 7u);
    ASSERT_THAT(std::vector<uint64_t>(checkpoint.begin() + 1, checkpoint.end()), ::testing::ElementsAreArray(expected));
  }
  numbers.Clear();
  EXPECT_EQ(numbers.size(), 0u);
}

}  // namespace
}  // namespace headrace
