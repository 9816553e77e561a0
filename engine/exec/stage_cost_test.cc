#include "engine/exec/stage_cost.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;

TEST(StageCostTest, NothingMeasured) {
  const StageCost cost(-1);
  EXPECT_FALSE(cost.light());
  EXPECT_EQ(cost.MessagesIn(kMillisecond, 8), 1);
  EXPECT_EQ(cost.row_ns(), 0u);
  EXPECT_EQ(cost.row_bytes(), 0);
  EXPECT_EQ(cost.task_bytes(), 0);
  EXPECT_EQ(cost.next_bytes(), -1);
}

TEST(StageCostTest, MessagesOfLessThanAFifthOfAMillisecondAreLight) {
  StageCost cheap(0);
  cheap.NoteTask(199'999, 1, 1, 0);
  EXPECT_TRUE(cheap.light());
  StageCost dear(0);
  dear.NoteTask(200'000, 1, 1, 0);
  EXPECT_FALSE(dear.light());
  StageCost group(0);
  group.NoteTask(400'000, 4, 1, 0);
  EXPECT_TRUE(group.light());
}

TEST(StageCostTest, ATaskOfNoTimeIsMeasured) {
  StageCost cost(0);
  cost.NoteTask(0, 1, 1, 0);
  EXPECT_TRUE(cost.light());
  EXPECT_EQ(cost.row_ns(), 1u);
  EXPECT_EQ(cost.task_bytes(), 1);
}

TEST(StageCostTest, TheMeanFollowsAboutEightTasks) {
  StageCost cost(0);
  cost.NoteTask(800, 1, 1, 0);
  EXPECT_EQ(cost.row_ns(), 800u);
  cost.NoteTask(1600, 1, 1, 0);
  EXPECT_EQ(cost.row_ns(), 900u);
  cost.NoteTask(100, 1, 0, 0);
  EXPECT_EQ(cost.row_ns(), 900u) << "a task without rows says nothing about rows";
}

TEST(StageCostTest, MessagesThatFillATask) {
  StageCost cost(0);
  cost.NoteTask(kMillisecond, 1, 1, 100);
  EXPECT_EQ(cost.MessagesIn(kMillisecond / 2, 8), 1);
  EXPECT_EQ(cost.MessagesIn(3 * kMillisecond, 8), 3);
  EXPECT_EQ(cost.MessagesIn(30 * kMillisecond, 8), 8);
}

TEST(StageCostTest, BytesAreTheLargestSeen) {
  StageCost cost(7);
  EXPECT_EQ(cost.next_bytes(), 7);
  cost.ExpectBytes(9);
  EXPECT_EQ(cost.next_bytes(), 9);
  cost.NoteTask(kMillisecond, 4, 4, 400);
  cost.NoteTask(kMillisecond, 4, 4, 200);
  EXPECT_EQ(cost.task_bytes(), 100);
  cost.NoteRowBytes(50);
  cost.NoteRowBytes(40);
  EXPECT_EQ(cost.row_bytes(), 50);
}

}  // namespace
}  // namespace headrace
