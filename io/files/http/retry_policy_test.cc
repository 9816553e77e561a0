#include "io/files/http/retry_policy.h"

#include <gtest/gtest.h>

namespace headrace::http {
namespace {

constexpr int64_t kPolicySecond = 1'000'000'000;

TEST(RetryPolicy, WaitsDoubleUpToTwentySeconds) {
  for (int failures = 1; failures < 100; ++failures) {
    const FailedCall call{.failures = failures};
    EXPECT_EQ(RetryWait(Failure::kServer, call, 0), 0);
    const int64_t most = RetryWait(Failure::kServer, call, 1);
    EXPECT_EQ(most, failures < 10 ? int64_t{50'000'000} << (failures - 1) : 20 * kPolicySecond);
  }
}

TEST(RetryPolicy, OnlyACongestedHostWaitsASecondAtFirst) {
  EXPECT_EQ(RetryWait(Failure::kThrottled, {.failures = 1, .congested = true}, 1), kPolicySecond);
  EXPECT_EQ(RetryWait(Failure::kThrottled, {.failures = 1, .congested = false}, 1), kPolicySecond / 20);
  EXPECT_EQ(RetryWait(Failure::kServer, {.failures = 1, .congested = true}, 1), kPolicySecond / 20);
}

TEST(RetryPolicy, WaitsDoubleLaterWhereTheHostServesOthers) {
  const auto longest = [](int failures, bool congested) {
    return RetryWait(Failure::kThrottled, {.failures = failures, .host_lost = false, .congested = congested}, 1);
  };
  for (const int failures : {1, 2, 3}) EXPECT_EQ(longest(failures, false), kPolicySecond / 20);
  EXPECT_EQ(longest(4, false), kPolicySecond / 10);
  EXPECT_EQ(longest(5, false), kPolicySecond / 5);
  EXPECT_EQ(longest(3, true), 4 * kPolicySecond);
}

TEST(RetryPolicy, GivesUpByWhatFailed) {
  EXPECT_FALSE(GivesUp(Failure::kWrong, {.failures = 2}));
  EXPECT_TRUE(GivesUp(Failure::kWrong, {.failures = 3}));
  EXPECT_FALSE(GivesUp(Failure::kServer, {.failures = 11}));
  EXPECT_TRUE(GivesUp(Failure::kServer, {.failures = 12}));
  EXPECT_FALSE(GivesUp(Failure::kUnreached, {.failures = 3}));
  EXPECT_TRUE(GivesUp(Failure::kUnreached, {.failures = 4}));
  for (const Failure failure : {Failure::kUnreached, Failure::kBroken, Failure::kThrottled}) {
    const bool known = true;
    // A host that is away is waited for; where it serves others, this call is the trouble.
    EXPECT_FALSE(GivesUp(failure, {.failures = 50, .since_ns = 89 * kPolicySecond, .host_known = known}));
    EXPECT_TRUE(GivesUp(failure, {.failures = 3, .since_ns = 90 * kPolicySecond, .host_known = known}));
    EXPECT_FALSE(GivesUp(failure, {.failures = 11, .host_known = known, .host_lost = false}));
    EXPECT_TRUE(GivesUp(failure, {.failures = 12, .host_known = known, .host_lost = false}));
    EXPECT_TRUE(GivesUp(failure, {.failures = 2, .host_known = known, .most_attempts = 2}));
  }
}

TEST(RetryPolicy, HostsSayWhenToComeAgain) {
  const auto asked = [](std::vector<Header> headers) { return AskedWait(Head{503, std::move(headers)}); };
  EXPECT_EQ(asked({}), 0);
  EXPECT_EQ(asked({{"retry-after", "5"}}), 5 * kPolicySecond);
  EXPECT_EQ(asked({{"retry-after", "-5"}}), 0);
  EXPECT_EQ(asked({{"retry-after", "99999999"}}), 30 * kPolicySecond);
  EXPECT_EQ(asked({{"retry-after", "soon"}}), 0);
  EXPECT_EQ(asked({{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}, {"date", "Sun, 06 Nov 1994 08:49:30 GMT"}}),
            7 * kPolicySecond);
  EXPECT_EQ(asked({{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}}), 0);
}

}  // namespace
}  // namespace headrace::http
