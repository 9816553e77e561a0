#include "io/files/http/retry_policy.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "io/files/http/http_date.h"

namespace headrace::http {
namespace {

constexpr int64_t kWaitSecond = 1'000'000'000;
constexpr int64_t kFirstWait = 50'000'000;
constexpr int64_t kMostWait = 20 * kWaitSecond;
constexpr int64_t kMostAskedWait = 30 * kWaitSecond;

// An address that was never reached is wrong rather than away for a while.
constexpr int kAttemptsUnknownHost = 4;
// A reply that is wrong once may come from something on the way; a third one will not be right.
constexpr int kAttemptsWrong = 3;
constexpr int kAttempts = 12;
// A host that serves others answers each attempt by itself: waiting longer after two or three of them gives nothing.
constexpr int kFailuresApart = 3;
// A whole host that is away may be restarted meanwhile.
constexpr int64_t kPatience = 90 * kWaitSecond;

}  // namespace

bool GivesUp(Failure failure, const FailedCall& call) {
  if (call.most_attempts > 0 && call.failures >= call.most_attempts) return true;
  switch (failure) {
    case Failure::kWrong:
      return call.failures >= kAttemptsWrong;
    case Failure::kServer:
      return call.failures >= kAttempts;
    case Failure::kUnreached:
      if (!call.host_known) return call.failures >= kAttemptsUnknownHost;
      break;
    case Failure::kBroken:
    case Failure::kThrottled:
      break;
  }
  return call.host_lost ? call.since_ns >= kPatience : call.failures >= kAttempts;
}

int64_t RetryWait(Failure failure, const FailedCall& call, double drawn) {
  const int64_t base = failure == Failure::kThrottled && call.congested ? kWaitSecond : kFirstWait;
  const bool apart = !call.host_lost && !call.congested;
  const int doublings = std::clamp(call.failures - (apart ? kFailuresApart : 1), 0, 20);
  return static_cast<int64_t>(drawn * static_cast<double>(std::min(kMostWait, base << doublings)));
}

int64_t AskedWait(const Head& head) {
  const std::string_view asked = head.Find("retry-after");
  if (asked.empty()) return 0;
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), seconds);
  if (error != std::errc() || end != asked.data() + asked.size()) {
    // By the host's own clock.
    const std::optional<int64_t> then = ParseHttpDate(asked);
    const std::optional<int64_t> now = ParseHttpDate(head.Find("date"));
    if (!then || !now) return 0;
    seconds = *then - *now;
  }
  return std::clamp<int64_t>(seconds, 0, kMostAskedWait / kWaitSecond) * kWaitSecond;
}

}  // namespace headrace::http
