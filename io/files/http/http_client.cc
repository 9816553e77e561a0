#include "io/files/http/http_client.h"

#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <utility>

#include "core/error.h"
#include "core/fork_watch.h"
#include "io/files/http/awaited_result.h"
#include "io/files/http/running_call.h"

namespace headrace::http {
namespace {

constexpr int kMostConnections = 512;

// Half of the descriptors that this process may have at least stay for others.
int MostConnections() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kMostConnections;
  return static_cast<int>(std::clamp<rlim_t>(limit.rlim_cur / 2, 1, kMostConnections));
}

// The hosts of all clients of a transport.
std::shared_ptr<Hosts> HostsOf(const Transport* transport) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const by_transport = new std::map<const Transport*, std::weak_ptr<Hosts>>;
  const std::lock_guard<std::mutex> lock(*mutex);
  std::weak_ptr<Hosts>& kept = (*by_transport)[transport];
  std::shared_ptr<Hosts> hosts = kept.lock();
  if (hosts == nullptr) kept = hosts = std::make_shared<Hosts>();
  return hosts;
}

std::function<double()> DrawnNumbers() {
  const auto engine = std::make_shared<std::minstd_rand>(std::random_device()());
  return [engine] { return std::uniform_real_distribution<double>()(*engine); };
}

absl::Status LostTransport() {
  return UnsupportedError(
      "this process was forked after far files or Headrace's threads had been used, which a fork does not copy: start "
      "workers with the 'spawn' method, or fork before the first iteration");
}

}  // namespace

class HttpClient::Impl {
 public:
  Impl(Transport* transport, Reach reach) : transport_(transport), counters_(std::make_shared<CallCounters>()) {
    const int connections = reach.connections > 0 ? reach.connections : -MostConnections();
    means_ = std::make_shared<const RunningCall::Means>(
        RunningCall::Means{transport, HostsOf(transport), counters_, std::make_shared<LateCalls>(transport),
                           std::move(reach), connections, DrawnNumbers()});
    calls_ = std::make_shared<Calls>();
  }

  Id Start(Call call, Done done) {
    if (LostInFork()) {
      done(LostTransport());
      return 0;
    }
    const Id id = calls_->NewId();
    auto ended = [calls = calls_, id, done = std::move(done)](absl::StatusOr<Reply> reply) {
      calls->Remove(id);
      done(std::move(reply));
    };
    const auto running = std::make_shared<RunningCall>(std::move(call), std::move(ended), means_);
    calls_->Add(id, running);
    transport_->After(0, [running] { running->Begin(); });
    return id;
  }

  void Cancel(Id id) {
    if (LostInFork()) return;
    const std::shared_ptr<RunningCall> running = calls_->Find(id);
    if (running != nullptr) transport_->After(0, [running] { running->Cancel(); });
  }

  StoreCounters counters() const { return counters_->Now(); }
  Transport& transport() const { return *transport_; }

 private:
  // Those that have not ended.
  class Calls {
   public:
    Id NewId() {
      const std::lock_guard<std::mutex> lock(mutex_);
      return ++last_;
    }
    void Add(Id id, std::weak_ptr<RunningCall> call) {
      const std::lock_guard<std::mutex> lock(mutex_);
      by_id_.emplace(id, std::move(call));
    }
    void Remove(Id id) {
      const std::lock_guard<std::mutex> lock(mutex_);
      by_id_.erase(id);
    }
    std::shared_ptr<RunningCall> Find(Id id) {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = by_id_.find(id);
      return found == by_id_.end() ? nullptr : found->second.lock();
    }

   private:
    std::mutex mutex_;
    Id last_ = 0;
    std::map<Id, std::weak_ptr<RunningCall>> by_id_;
  };

  Transport* const transport_;
  const std::shared_ptr<CallCounters> counters_;
  std::shared_ptr<const RunningCall::Means> means_;
  std::shared_ptr<Calls> calls_;
};

HttpClient::HttpClient(Transport* transport, Reach reach)
    : impl_(std::make_shared<Impl>(transport, std::move(reach))) {}

HttpClient::~HttpClient() = default;

HttpClient::Id HttpClient::Start(Call call, Done done) { return impl_->Start(std::move(call), std::move(done)); }

void HttpClient::Cancel(Id id) { impl_->Cancel(id); }

absl::StatusOr<Reply> HttpClient::Run(Call call) {
  AwaitedResult<Reply> awaited;
  const Id id = Start(std::move(call), [&awaited](absl::StatusOr<Reply> reply) { awaited.Set(std::move(reply)); });
  return awaited.Wait([&] { Cancel(id); });
}

StoreCounters HttpClient::counters() const { return impl_->counters(); }

Transport& HttpClient::transport() const { return impl_->transport(); }

}  // namespace headrace::http
