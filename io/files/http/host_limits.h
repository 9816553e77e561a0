// `HostLimits` is what all requests to one host share: how many may be under way at once, how many may be repeated or
// sent a second time, and how long replies of a size take. Times are the transport's.
// Threads: one thread at a time (the transport's event thread).
#ifndef HEADRACE_IO_FILES_HTTP_HOST_LIMITS_H_
#define HEADRACE_IO_FILES_HTTP_HOST_LIMITS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

#include "io/files/http/connection_count.h"

namespace headrace::http {

class HostLimits {
 public:
  explicit HostLimits(int64_t now_ns);

  // Takes a place for a request, of at most `most` at once, below 0: of that many at most, fewer if more give nothing;
  // false: none is free.
  bool Enter(int most, int64_t now_ns);
  // Takes one above the limit.
  void EnterAnyway();
  void Leave(int64_t now_ns);
  // `go` waits for a place that NextReady takes for it; `first`: in front of all that wait.
  void Queue(int most, bool first, std::function<void()> go);
  // What may go now, with its place taken; null: nothing.
  std::function<void()> NextReady(int64_t now_ns);
  bool idle() const { return active_ == 0 && queue_.empty(); }
  int active() const { return active_; }
  // How many may be under way at once now, from a limit as Enter takes it.
  int Limit(int most, int64_t now_ns);

  // A request that is sent for the first time: it earns a part of a repetition, and of a second sending.
  void CountRequest();
  // A whole reply. Where more than a quarter of a second's replies were throttled, half as many requests go at once
  // from then on, and one more each second.
  void CountReply(bool throttled, int64_t now_ns);
  // Whether more than a quarter of the last second's replies were throttled. Fewer than eight say nothing.
  bool Congested(int64_t now_ns);
  // Takes what a repetition costs; false: wait, and ask again.
  bool TakeRepetition(int64_t now_ns);
  // Takes what a second sending costs: at most 2 in 100 requests.
  bool TakeHedge();

  // A reply of so many bytes came whole after so long.
  void CountTime(int64_t bytes, int64_t ns, int64_t now_ns);
  // After how long a request for so many bytes is slower than 99 in 100 were; 2 s until enough were seen.
  int64_t HedgeAfter(int64_t bytes) const;

  // When a reply was last neither throttled nor a fault; -1: never.
  int64_t last_good_ns() const { return last_good_ns_; }
  void CountGood(int64_t now_ns) { last_good_ns_ = now_ns; }

 private:
  // Sizes by powers of 16 from 4 KB on, times by powers of 1.25 from 1 ms on.
  static constexpr size_t kSizes = 5;
  static constexpr size_t kTimes = 64;
  struct Times {
    std::array<uint32_t, kTimes> counts{};
    uint32_t all = 0;
  };
  struct Second {
    int64_t replies = 0;
    int64_t throttled = 0;
    int most_active = 0;
  };
  struct Waiting {
    int most;
    std::function<void()> go;
  };
  static constexpr int kNoLimit = 1 << 20;

  static size_t SizeOf(int64_t bytes);
  void TurnSecond(int64_t now_ns);
  void EndSecond();

  int active_ = 0;
  int limit_ = kNoLimit;
  ConnectionCount chosen_;
  std::deque<Waiting> queue_;
  int64_t second_ns_;  // when the current second began
  Second current_;
  Second last_;
  double repetitions_;
  int64_t earned_ns_;
  double hedges_ = 0;
  int64_t last_good_ns_ = -1;
  std::array<Times, kSizes> times_;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_HOST_LIMITS_H_
