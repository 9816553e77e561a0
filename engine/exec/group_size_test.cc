#include "engine/exec/group_size.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace headrace {
namespace {

constexpr int64_t kMany = int64_t{1} << 40;

TEST(GroupSize, FollowsTheCostOfARow) {
  EXPECT_EQ(GroupSize(0, 8, kMany), 256);
  EXPECT_EQ(GroupSize(50, 8, kMany), 256);
  EXPECT_EQ(GroupSize(200, 8, kMany), 100);
  EXPECT_EQ(GroupSize(5'000, 8, kMany), 4);
  EXPECT_EQ(GroupSize(20'000, 8, kMany), 4);
  EXPECT_EQ(GroupSize(20'001, 8, kMany), 1);
  EXPECT_EQ(GroupSize(1'500'000, 8, kMany), 1);
}

TEST(GroupSize, KeepsWithinTheBytes) {
  EXPECT_EQ(GroupSize(50, 1024, 32 << 10), 32);
  EXPECT_EQ(GroupSize(50, 8 << 10, 32 << 10), 4);
  EXPECT_EQ(GroupSize(50, 9 << 10, 32 << 10), 1);
  EXPECT_EQ(GroupSize(50, 150'528, 32 << 10), 1);
  EXPECT_EQ(GroupSize(50, 0, 100), 100);
  EXPECT_EQ(GroupSize(50, 8, 0), 1);
}

}  // namespace
}  // namespace headrace
