// `RunningCall` takes a call of an HttpClient to its end: it waits for a place at the host, makes attempts, judges what
// came, repeats, and gives the result. `CallCounters` and `Hosts` are what calls share.
// Threads: RunningCall and Hosts belong to the transport's event thread; CallCounters any thread.
#ifndef HEADRACE_IO_FILES_HTTP_RUNNING_CALL_H_
#define HEADRACE_IO_FILES_HTTP_RUNNING_CALL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "io/files/http/host_limits.h"
#include "io/files/http/http_client.h"
#include "io/files/http/late_calls.h"
#include "io/files/http/retry_policy.h"
#include "io/files/http/transport.h"

namespace headrace::http {

class CallCounters {
 public:
  StoreCounters Now() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counters_;
  }
  template <typename Change>
  void Add(const Change& change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    change(counters_);
  }

 private:
  mutable std::mutex mutex_;
  StoreCounters counters_;
};

// The hosts that a transport's clients ask.
class Hosts {
 public:
  // A host by a proxy is another one than the host itself: what is known of one says nothing of the other.
  std::shared_ptr<HostLimits> Of(std::string_view url, std::string_view proxy, int64_t now_ns);

 private:
  std::map<std::string, std::shared_ptr<HostLimits>, std::less<>> by_place_;
};

struct Attempt;

class RunningCall : public std::enable_shared_from_this<RunningCall> {
 public:
  // What it needs of its client; all of it outlives the call.
  struct Means {
    Transport* transport;
    std::shared_ptr<Hosts> hosts;
    std::shared_ptr<CallCounters> counters;
    std::shared_ptr<LateCalls> late;
    Reach reach;
    int connections;                // to one host, at once, as HostLimits takes them
    std::function<double()> drawn;  // uniform in [0, 1)
  };
  RunningCall(Call call, HttpClient::Done done, std::shared_ptr<const Means> means);
  ~RunningCall();

  void Begin();
  void Cancel();

 private:
  friend struct Attempt;

  int64_t Now() const { return means_->transport->Now(); }
  void Later(int64_t ns, void (RunningCall::*step)());
  void WaitForPlace();
  void Send();
  absl::Status MakeTarget();
  absl::Status MakeRequest(Request& request) const;
  absl::Status AddReach(Request& request) const;
  absl::Status AddRange(Request& request) const;
  void StartAttempt(Request request, bool hedge);
  void AwaitHedge();
  void StopHedge();
  void SendHedge();
  void FindHedge();
  void StartHedge(Request request);
  bool IsAlone(Transport::Id attempt) const;
  void ServeQueue();

  // For attempts, and of what they say.
  bool ended() const { return finished_ || cancelled_; }
  absl::Span<uint8_t> TargetFrom(int64_t base) const { return call_.target.subspan(static_cast<size_t>(base)); }
  absl::Status TooLong(const Attempt& attempt) const;
  absl::Status TakeHead(Attempt& attempt, const Head& head);
  absl::Status TakePartial(Attempt& attempt, const Head& head);
  absl::Status TakeWhole(Attempt& attempt);
  absl::Status CheckVersion(const Attempt& attempt, const Head& head);
  void Ended(Attempt& attempt, Outcome outcome);
  void Remove(const Attempt& attempt);
  void Count(const Outcome& outcome);
  bool IsComplete(const Attempt& attempt, const Outcome& outcome) const;
  bool IsLostHedge(const Attempt& attempt, const Outcome& outcome) const;
  void TakeLostHedge(const Attempt& attempt, const Outcome& outcome);
  Verdict CountVerdict(const Attempt& attempt);
  void TakeReply(Attempt& attempt, const Outcome& outcome);
  void TakeFault(Attempt& attempt, const Outcome& outcome);
  void TakeProgress(const Attempt& attempt, int64_t received);
  void FinishReply(Attempt& attempt, const Outcome& outcome);
  struct Failed {
    Failure failure = Failure::kBroken;
    std::string what;
    int64_t least_wait_ns = 0;
  };
  void Fail(Failure failure, std::string_view what, int64_t least_wait_ns);
  void TakeRepetition();
  void RepeatAtOnce();
  void EndPause();
  void Finish(absl::StatusOr<Reply> result);
  absl::Status ChangedError() const;
  absl::Status GivenUpError(Failure failure, std::string_view what) const;

  bool has_body() const { return call_.request.method != "HEAD"; }
  bool has_own_guard() const;  // its request says which version it wants
  bool MayResume(const Attempt& attempt) const;
  int64_t deadline_ns() const;  // from now on; below 0: over

  Call call_;
  HttpClient::Done done_;
  const std::shared_ptr<const Means> means_;
  std::shared_ptr<HostLimits> host_;
  std::vector<std::shared_ptr<Attempt>> attempts_;  // under way
  std::optional<LateCalls::Place> hedge_;           // waits for its time
  Failed first_failed_;                             // of an attempt that ended before its hedge
  int made_ = 0;                                    // attempts, hedges among them
  int64_t received_ = 0;                            // bytes of the target that are there
  std::string etag_;                                // of those bytes
  bool repeated_at_once_ = false;
  bool cancelled_ = false;
  bool finished_ = false;
  int failures_ = 0;  // in succession, without progress between them
  int64_t began_ns_ = 0;
  int64_t failed_ns_ = 0;  // the first of them
  int64_t paused_ns_ = 0;  // when the current wait began
  int64_t waited_ns_ = 0;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_RUNNING_CALL_H_
