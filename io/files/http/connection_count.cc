#include "io/files/http/connection_count.h"

#include <algorithm>

namespace headrace::http {
namespace {

constexpr int kMostChosen = 1024;
constexpr double kWorthIt = 1.1;
// What a request costs a host beside its bytes, in bytes.
constexpr double kCostOfReply = 32 << 10;
// Shorter spans are noise.
constexpr int64_t kShortestSpan = 20'000'000;
// Hosts and networks change.
constexpr int64_t kTryAgain = 10'000'000'000;

}  // namespace

void ConnectionCount::BeginSpan(int64_t now_ns) {
  began_ns_ = now_ns;
  replies_ = 0;
  work_ = 0;
}

void ConnectionCount::CountReply(int64_t bytes, bool all_taken, int64_t now_ns) {
  // What comes while places are free says how fast requests are made.
  if (!all_taken) return BeginSpan(now_ns);
  ++replies_;
  work_ += static_cast<double>(bytes) + kCostOfReply;
  const int64_t ns = now_ns - began_ns_;
  if (replies_ < count_ || (!settles_ && ns < kShortestSpan)) return;
  const double rate = work_ / static_cast<double>(std::max<int64_t>(1, ns));
  BeginSpan(now_ns);
  if (settles_) {
    settles_ = false;
  } else {
    TakeRate(rate, now_ns);
  }
}

void ConnectionCount::TakeRate(double rate, int64_t now_ns) {
  if (count_ == kept_) {
    kept_rate_ = rate;
    if (now_ns >= next_try_ns_) Try(2 * kept_, now_ns);
  } else if (rate >= kWorthIt * kept_rate_) {
    kept_ = count_;
    kept_rate_ = rate;
    Try(2 * kept_, now_ns);
  } else {
    count_ = kept_;
    next_try_ns_ = now_ns + kTryAgain;
  }
}

void ConnectionCount::Try(int count, int64_t now_ns) {
  count_ = std::min(count, kMostChosen);
  settles_ = true;
  BeginSpan(now_ns);
}

}  // namespace headrace::http
