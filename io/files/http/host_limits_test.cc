#include "io/files/http/host_limits.h"

#include <gtest/gtest.h>

#include <vector>

namespace headrace::http {
namespace {

constexpr int64_t kTestMs = 1'000'000;
constexpr int64_t kTestSecond = 1000 * kTestMs;
constexpr int kMost = 100;

// A second with so many replies, with `active` requests at once.
void PassSecond(HostLimits& limits, int64_t& now, int active, int replies, int throttled) {
  for (int i = 0; i < active; ++i) ASSERT_TRUE(limits.Enter(kMost, now));
  for (int i = 0; i < replies; ++i) limits.CountReply(i < throttled, now);
  for (int i = 0; i < active; ++i) limits.Leave(now);
  now += kTestSecond;
}

TEST(HostLimits, PlacesAreTakenAndGivenInOrder) {
  HostLimits limits(0);
  EXPECT_TRUE(limits.Enter(2, 0));
  EXPECT_TRUE(limits.Enter(2, 0));
  EXPECT_FALSE(limits.Enter(2, 0));
  std::vector<int> went;
  limits.Queue(2, false, [&] { went.push_back(1); });
  limits.Queue(2, false, [&] { went.push_back(2); });
  limits.Queue(2, true, [&] { went.push_back(0); });
  EXPECT_EQ(limits.NextReady(0), nullptr);
  for (int i = 0; i < 3; ++i) {
    limits.Leave(0);
    limits.NextReady(0)();
  }
  EXPECT_EQ(went, std::vector<int>({0, 1, 2}));
  EXPECT_EQ(limits.active(), 2);
  limits.Leave(0);
  limits.Leave(0);
  EXPECT_TRUE(limits.idle());
}

TEST(HostLimits, ATenthOfThrottledRepliesLowersNothing) {
  HostLimits limits(0);
  int64_t now = 0;
  for (int i = 0; i < 10; ++i) PassSecond(limits, now, 64, 1000, 100);
  EXPECT_EQ(limits.Limit(kMost, now), kMost);
  EXPECT_FALSE(limits.Congested(now));
}

TEST(HostLimits, MoreThanAQuarterHalvesWhatGoesAtOnceAndASecondAddsOne) {
  HostLimits limits(0);
  int64_t now = 0;
  PassSecond(limits, now, 64, 1000, 251);
  EXPECT_EQ(limits.Limit(kMost, now), 32);
  EXPECT_TRUE(limits.Congested(now));
  PassSecond(limits, now, 32, 1000, 0);
  EXPECT_EQ(limits.Limit(kMost, now), 33);
  EXPECT_FALSE(limits.Congested(now));
  now += 10 * kTestSecond;
  EXPECT_EQ(limits.Limit(kMost, now), 43);
  now += 1000 * kTestSecond;
  EXPECT_EQ(limits.Limit(kMost, now), kMost);
}

TEST(HostLimits, OneStaysWhateverIsThrottled) {
  HostLimits limits(0);
  int64_t now = 0;
  for (int i = 0; i < 20; ++i) PassSecond(limits, now, 1, 100, 100);
  EXPECT_EQ(limits.Limit(kMost, now), 1);
}

TEST(HostLimits, FewRepliesSayLittle) {
  HostLimits limits(0);
  int64_t now = 0;
  PassSecond(limits, now, 4, 4, 4);
  EXPECT_EQ(limits.Limit(kMost, now), kMost);
  HostLimits alone(0);
  for (int i = 0; i < 7; ++i) alone.CountReply(true, 0);
  EXPECT_FALSE(alone.Congested(0));
  alone.CountReply(true, 0);
  EXPECT_TRUE(alone.Congested(0));
}

TEST(HostLimits, AreFewAtFirstWhereNoSettingSaysHowMany) {
  HostLimits limits(0);
  EXPECT_EQ(limits.Limit(-kMost, 0), 16);
  EXPECT_EQ(limits.Limit(-4, 0), 4);
  int64_t now = 0;
  limits.Queue(-kMost, false, [] {});
  for (int i = 0; i < 1000; ++i) limits.CountTime(1000, 50 * kTestMs, now += 50 * kTestMs / limits.Limit(-kMost, now));
  EXPECT_EQ(limits.Limit(-kMost, now), kMost);
}

TEST(HostLimits, RepetitionsAreEarnedByRequestsAndTime) {
  HostLimits limits(0);
  int taken = 0;
  while (limits.TakeRepetition(0)) ++taken;
  EXPECT_EQ(taken, 100);
  for (int i = 0; i < 4; ++i) limits.CountRequest();
  EXPECT_TRUE(limits.TakeRepetition(0));
  EXPECT_FALSE(limits.TakeRepetition(0));
  EXPECT_FALSE(limits.TakeRepetition(499 * kTestMs));
  EXPECT_TRUE(limits.TakeRepetition(500 * kTestMs));
  taken = 0;
  while (limits.TakeRepetition(3600 * kTestSecond)) ++taken;
  EXPECT_EQ(taken, 100);
}

TEST(HostLimits, SecondSendingsAreTwoInAHundred) {
  HostLimits limits(0);
  int taken = 0;
  for (int i = 0; i < 1000; ++i) {
    limits.CountRequest();
    if (limits.TakeHedge()) ++taken;
  }
  EXPECT_GE(taken, 19);
  EXPECT_LE(taken, 20);
}

TEST(HostLimits, TheSlowestAreKnownBySize) {
  HostLimits limits(0);
  EXPECT_EQ(limits.HedgeAfter(1000), 2 * kTestSecond);
  for (int i = 0; i < 100; ++i) {
    limits.CountTime(1000, 10 * kTestMs, 0);
    limits.CountTime(8 << 20, 3 * kTestSecond, 0);
  }
  EXPECT_EQ(limits.HedgeAfter(1000), 200 * kTestMs);
  EXPECT_GE(limits.HedgeAfter(8 << 20), 3 * kTestSecond);
  EXPECT_LE(limits.HedgeAfter(8 << 20), 4 * kTestSecond);
  EXPECT_EQ(limits.HedgeAfter(100'000), 2 * kTestSecond);
  // 5 in 100 are not the slowest 1.
  for (int i = 0; i < 1900; ++i) limits.CountTime(1000, i % 20 == 0 ? kTestSecond : 10 * kTestMs, 0);
  EXPECT_GE(limits.HedgeAfter(1000), kTestSecond);
}

}  // namespace
}  // namespace headrace::http
