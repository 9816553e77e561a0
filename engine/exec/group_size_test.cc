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

TEST(GroupSize, IsAWholeBatchWhereThatIsSoonMade) {
  EXPECT_EQ(GroupSizeBelowBatch(20, 500, 32 << 10, 0), GroupSize(20, 500, 32 << 10));
  EXPECT_EQ(GroupSizeBelowBatch(20, 30, 32 << 10, 1024), 1024);
  EXPECT_EQ(GroupSizeBelowBatch(150, 510, 32 << 10, 1024), 1024);
  // Fewer rows than the group: as many batches as it holds.
  EXPECT_EQ(GroupSizeBelowBatch(20, 8, 32 << 10, 100), 200);
  EXPECT_EQ(GroupSizeBelowBatch(20, 8, 32 << 10, 256), 256);
  // Takes too long, takes too much memory, or rows travel alone.
  EXPECT_EQ(GroupSizeBelowBatch(1'600, 8, 32 << 10, 1024), 12);
  EXPECT_EQ(GroupSizeBelowBatch(20, 8 << 10, 32 << 10, 1024), 4);
  EXPECT_EQ(GroupSizeBelowBatch(30'000, 8, 32 << 10, 4), 1);
}

TEST(GroupSize, IsAPartOfABatchThatIsNotSoonMade) {
  EXPECT_EQ(GroupSizeBelowBatch(500, 8, 32 << 10, 1024), 512);
  EXPECT_EQ(GroupSizeBelowBatch(1'500, 8, 32 << 10, 1024), 256);
  EXPECT_EQ(GroupSizeBelowBatch(500, 8, 32 << 10, 1023), 512);
  EXPECT_EQ(GroupSizeBelowBatch(20, 1500, 32 << 10, 1024), 512);
}

TEST(GroupSize, EndsWhereABatchEnds) {
  EXPECT_EQ(EndAtBatch(256, 0, 0), 256);
  EXPECT_EQ(EndAtBatch(256, 7, 1024), 256);
  EXPECT_EQ(EndAtBatch(256, 900, 1024), 124);
  EXPECT_EQ(EndAtBatch(1024, 0, 1024), 1024);
  EXPECT_EQ(EndAtBatch(1024, 5, 1024), 1019);
  EXPECT_EQ(EndAtBatch(200, 50, 100), 150);
  // Whatever sizes groups have, they give all rows, and batches end where groups do.
  for (const int joined : {1, 3, 100}) {
    uint64_t given = 0;
    for (int rows = 1; rows < 300; ++rows) {
      const int taken = EndAtBatch(rows, given, joined);
      ASSERT_GT(taken, 0);
      const uint64_t before = given / static_cast<uint64_t>(joined);
      given += static_cast<uint64_t>(taken);
      const bool ends_one = given / static_cast<uint64_t>(joined) > before;
      ASSERT_TRUE(!ends_one || given % static_cast<uint64_t>(joined) == 0);
    }
  }
}

}  // namespace
}  // namespace headrace
