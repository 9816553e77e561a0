#include "io/files/http/connection_count.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace headrace::http {
namespace {

constexpr int64_t kCountMs = 1'000'000;

// Replies of a host that takes `latency_ms` for each, and gives `most` in a millisecond to all.
void TakeReplies(ConnectionCount& count, int64_t& now, int replies, double latency_ms, double most) {
  while (replies > 0) {
    const double rate = std::min(count.now() / latency_ms, most);
    for (int i = 0; i < count.now(); ++i) {
      now += static_cast<int64_t>(kCountMs / rate);
      count.CountReply(1000, true, now);
    }
    replies -= count.now();
  }
}

TEST(ConnectionCount, RisesWhileAReplyIsWaitedFor) {
  ConnectionCount count(0);
  int64_t now = 0;
  EXPECT_EQ(count.now(), 16);
  TakeReplies(count, now, 300, 50, 1000);
  EXPECT_GE(count.now(), 128);
  TakeReplies(count, now, 10'000, 50, 1000);
  EXPECT_EQ(count.now(), 1024);
  EXPECT_LE(now, 1500 * kCountMs);
}

TEST(ConnectionCount, StaysWhereMoreGivesNothing) {
  ConnectionCount count(0);
  int64_t now = 0;
  TakeReplies(count, now, 5000, 0.5, 4);
  EXPECT_EQ(count.now(), 16);
}

TEST(ConnectionCount, RisesToWhatTheHostGives) {
  ConnectionCount count(0);
  int64_t now = 0;
  TakeReplies(count, now, 5000, 50, 1);
  EXPECT_EQ(count.now(), 64);
}

TEST(ConnectionCount, TriesAgainLater) {
  ConnectionCount count(0);
  int64_t now = 0;
  TakeReplies(count, now, 1000, 0.5, 4);
  EXPECT_EQ(count.now(), 16);
  TakeReplies(count, now, 5000, 50, 1000);
  EXPECT_GE(count.now(), 512);
}

TEST(ConnectionCount, StaysWhileRequestsAreFew) {
  ConnectionCount count(0);
  for (int i = 0; i < 1000; ++i) count.CountReply(1000, false, i * 50 * kCountMs);
  EXPECT_EQ(count.now(), 16);
}

}  // namespace
}  // namespace headrace::http
