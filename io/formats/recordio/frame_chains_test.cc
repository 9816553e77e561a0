#include "io/formats/recordio/frame_chains.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

constexpr int64_t kFrame = 8;

// Follows frames without payload, of 8 bytes each, from `record` to `end`. Returns the steps that it took.
int Follow(FrameChains& chains, int64_t record, int64_t end) {
  FrameChains::Walk walk(&chains, record);
  int steps = 0;
  size_t length = 0;
  int64_t at = record + kFrame;
  while (at < end) {
    if (const FrameChains::Way* way = walk.At(at, length); way != nullptr) {
      length += way->length;
      at = way->to;
      continue;
    }
    ++steps;
    length += 4;
    at += kFrame;
  }
  EXPECT_EQ(at, end);
  EXPECT_EQ(length, static_cast<size_t>((end - record) / kFrame - 1) * 4);
  walk.Note({at, length, true});
  return steps;
}

TEST(FrameChains, FollowsSharedFramesOnce) {
  FrameChains chains;
  constexpr int64_t kEnd = 1'000'000 * kFrame;
  EXPECT_GT(Follow(chains, 0, kEnd), 900'000);
  for (int64_t record = kFrame; record < 1000 * kFrame; record += kFrame) EXPECT_LT(Follow(chains, record, kEnd), 64);
}

TEST(FrameChains, ForgetsWhatLiesBehind) {
  FrameChains chains;
  for (int64_t i = 0; i < 100; ++i) Follow(chains, i * 100'000 * kFrame, (i + 1) * 100'000 * kFrame);
  EXPECT_LT(chains.size(), 8000u);
}

TEST(FrameChains, GoesOnWhereAWayEnded) {
  FrameChains chains;
  Follow(chains, 0, 1000 * kFrame);
  EXPECT_LT(Follow(chains, kFrame, 2000 * kFrame), 1100);
  EXPECT_LT(Follow(chains, 2 * kFrame, 2000 * kFrame), 64);
}

TEST(FrameChains, RemembersNothingWithoutOne) {
  FrameChains::Walk walk(nullptr, 0);
  for (int64_t at = kFrame; at < 1000 * kFrame; at += kFrame) EXPECT_EQ(walk.At(at, 0), nullptr);
  walk.Note({1000 * kFrame, 0, true});
}

}  // namespace
}  // namespace headrace
