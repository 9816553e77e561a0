#include "io/files/http/host_limits.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headrace::http {
namespace {

constexpr int64_t kLimitSecond = 1'000'000'000;
constexpr int64_t kLimitMillisecond = 1'000'000;

constexpr double kMostRepetitions = 100;  // saved up, and there at the beginning
constexpr double kEarnedARequest = 0.25;
constexpr double kEarnedASecond = 2;
constexpr double kHedgesARequest = 0.02;
constexpr double kMostHedges = 20;  // saved up

// Fewer replies say too little of how many a host takes at once.
constexpr int64_t kEnoughReplies = 20;
// The first replies of a host that throttles a tenth of them are now and then throttled all.
constexpr int64_t kEnoughThrottled = 8;
constexpr uint32_t kEnoughTimes = 50;
// Older times count half.
constexpr uint32_t kMostTimes = 2000;
constexpr double kStep = 1.25;
constexpr int64_t kFirstHedge = 2 * kLimitSecond;
constexpr int64_t kLeastHedge = 200 * kLimitMillisecond;

bool IsMostlyThrottled(int64_t replies, int64_t throttled) { return throttled * 4 > replies; }

}  // namespace

HostLimits::HostLimits(int64_t now_ns)
    : chosen_(now_ns), second_ns_(now_ns), repetitions_(kMostRepetitions), earned_ns_(now_ns) {}

bool HostLimits::Enter(int most, int64_t now_ns) {
  if (active_ >= Limit(most, now_ns)) return false;
  EnterAnyway();
  return true;
}

void HostLimits::EnterAnyway() {
  ++active_;
  current_.most_active = std::max(current_.most_active, active_);
}

void HostLimits::Leave(int64_t now_ns) {
  TurnSecond(now_ns);
  --active_;
}

void HostLimits::Queue(int most, bool first, std::function<void()> go) {
  if (first) {
    queue_.push_front({most, std::move(go)});
  } else {
    queue_.push_back({most, std::move(go)});
  }
}

std::function<void()> HostLimits::NextReady(int64_t now_ns) {
  if (queue_.empty() || !Enter(queue_.front().most, now_ns)) return nullptr;
  std::function<void()> go = std::move(queue_.front().go);
  queue_.pop_front();
  return go;
}

int HostLimits::Limit(int most, int64_t now_ns) {
  TurnSecond(now_ns);
  if (most < 0) most = std::min(-most, chosen_.now());
  return std::max(1, std::min(most, limit_));
}

void HostLimits::CountRequest() {
  repetitions_ = std::min(kMostRepetitions, repetitions_ + kEarnedARequest);
  hedges_ = std::min(kMostHedges, hedges_ + kHedgesARequest);
}

void HostLimits::CountReply(bool throttled, int64_t now_ns) {
  TurnSecond(now_ns);
  ++current_.replies;
  if (throttled) ++current_.throttled;
}

bool HostLimits::Congested(int64_t now_ns) {
  TurnSecond(now_ns);
  const int64_t throttled = last_.throttled + current_.throttled;
  return throttled >= kEnoughThrottled && IsMostlyThrottled(last_.replies + current_.replies, throttled);
}

bool HostLimits::TakeRepetition(int64_t now_ns) {
  const double seconds = static_cast<double>(now_ns - earned_ns_) / kLimitSecond;
  earned_ns_ = now_ns;
  repetitions_ = std::min(kMostRepetitions, repetitions_ + seconds * kEarnedASecond);
  if (repetitions_ < 1) return false;
  repetitions_ -= 1;
  return true;
}

bool HostLimits::TakeHedge() {
  if (hedges_ < 1) return false;
  hedges_ -= 1;
  return true;
}

void HostLimits::TurnSecond(int64_t now_ns) {
  const int64_t seconds = (now_ns - second_ns_) / kLimitSecond;
  if (seconds < 1) return;
  EndSecond();
  // Those after it were without a reply.
  limit_ = static_cast<int>(std::min<int64_t>(kNoLimit, limit_ + seconds - 1));
  last_ = seconds == 1 ? current_ : Second();
  current_ = {.most_active = active_};
  second_ns_ += seconds * kLimitSecond;
}

void HostLimits::EndSecond() {
  if (current_.replies >= kEnoughReplies && IsMostlyThrottled(current_.replies, current_.throttled)) {
    limit_ = std::max(1, std::min(limit_, current_.most_active) / 2);
  } else if (limit_ < kNoLimit) {
    ++limit_;
  }
}

size_t HostLimits::SizeOf(int64_t bytes) {
  size_t size = 0;
  for (int64_t most = 4096; size + 1 < kSizes && bytes > most; most *= 16) ++size;
  return size;
}

void HostLimits::CountTime(int64_t bytes, int64_t ns, int64_t now_ns) {
  chosen_.CountReply(bytes, !queue_.empty() && queue_.front().most < 0, now_ns);
  Times& times = times_[SizeOf(bytes)];
  const double steps = std::log(std::max(1.0, static_cast<double>(ns) / kLimitMillisecond)) / std::log(kStep);
  ++times.counts[std::min(kTimes - 1, static_cast<size_t>(steps))];
  if (++times.all < kMostTimes) return;
  times.all = 0;
  for (uint32_t& count : times.counts) {
    count /= 2;
    times.all += count;
  }
}

int64_t HostLimits::HedgeAfter(int64_t bytes) const {
  const Times& times = times_[SizeOf(bytes)];
  if (times.all < kEnoughTimes) return kFirstHedge;
  uint32_t slower = 0;
  size_t step = kTimes;
  while (step > 1 && (slower + times.counts[step - 1]) * 100 <= times.all) slower += times.counts[--step];
  const auto edge = static_cast<int64_t>(std::pow(kStep, static_cast<double>(step)) * kLimitMillisecond);
  return std::max(kLeastHedge, edge);
}

}  // namespace headrace::http
