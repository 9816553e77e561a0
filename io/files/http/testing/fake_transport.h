// `FakeTransport` is a transport for tests without a network: a function of the test answers each request, with a reply
// or a fault, and its clock is the test's. With Time::kJumps it has an event thread, whose clock jumps to the next
// event when there is nothing else to do, so waits cost no time; with Time::kByHand all events happen within Advance.
// Use it for whatever makes requests by HttpClient. Threads: any thread; `answer` is called on the event thread
// (kByHand: in Advance).
#ifndef HEADRACE_IO_FILES_HTTP_TESTING_FAKE_TRANSPORT_H_
#define HEADRACE_IO_FILES_HTTP_TESTING_FAKE_TRANSPORT_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "io/files/http/transport.h"

namespace headrace::http {

struct FakeRequest {
  std::string method;
  std::string url;
  std::vector<Header> headers;
  std::string body;  // end to end
  Reach reach;
  int64_t deadline_ms = 0;
  int64_t at_ns = 0;  // of the transport's clock
  int number = 0;     // from 0, in the order they were started

  // The value of a header, in any case of letters; "" if it is missing.
  std::string_view Find(std::string_view name) const;
};

struct FakeReply {
  int status = 200;             // 0: the fault comes before any head
  std::vector<Header> headers;  // names in lower case; "content-length" is added unless it is there
  std::string body;
  Fault fault = Fault::kNone;  // after `cut_at` bytes of the body
  std::string reason = "as the test says";
  int64_t cut_at = 0;     // with a fault or a stall
  bool stalls = false;    // after `cut_at` bytes (status 0: before the head), until something ends the request
  int64_t after_ns = 0;   // from the request to the head
  int64_t lasts_ns = 0;   // from the head to the end
  bool connects = false;  // counts as a new connection
};

// The reply of an honest server of `body` to a request with or without a Range, with this ETag ("": none): 200, 206 or
// 416; 412 where If-Match is another.
FakeReply ServeBytes(const FakeRequest& request, std::string_view body, std::string_view etag);

class FakeTransport : public Transport {
 public:
  enum class Time { kJumps, kByHand };
  using Answer = std::function<FakeReply(const FakeRequest& request)>;

  explicit FakeTransport(Answer answer, Time time = Time::kJumps);
  ~FakeTransport() override;  // what is outstanding ends with kCancelled

  // kByHand: all that happens until `ns` from now, in order of time, on this thread.
  void Advance(int64_t ns);
  // All requests that were started.
  std::vector<FakeRequest> requests() const;
  // The most that were outstanding at once.
  int64_t most_outstanding() const;
  // Requests that were cancelled while they were outstanding.
  int64_t cancelled() const;

  Id Start(Request request, std::shared_ptr<Receiver> receiver) override;
  void Cancel(Id id) override;
  void After(int64_t ns, std::function<void()> call) override;
  int64_t Now() const override;
  int64_t outstanding() const override;
  Sha256 DigestSha256(const std::vector<std::string_view>& parts) const override;
  Sha256 HmacSha256(std::string_view key, std::string_view text) const override;
  Md5 DigestMd5(const std::vector<std::string_view>& parts) const override;
  std::string Versions() const override { return "a transport for tests"; }

 private:
  struct Outstanding;
  using Event = std::function<void()>;

  void Serve();
  void AddEvent(int64_t at_ns, Event event);  // with mutex_ held
  bool RunNext(std::unique_lock<std::mutex>& lock, int64_t until_ns);
  void Begin(const std::shared_ptr<Outstanding>& request);
  void GiveHead(const std::shared_ptr<Outstanding>& request);
  void GiveBody(const std::shared_ptr<Outstanding>& request);
  void End(const std::shared_ptr<Outstanding>& request, Fault fault, std::string reason);
  void EventAfter(int64_t ns, Event event);

  const Answer answer_;
  const Time time_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int64_t now_ns_ = 0;
  uint64_t events_ = 0;
  std::map<std::pair<int64_t, uint64_t>, Event> waiting_;  // by time, then as they were asked for
  std::map<Id, std::shared_ptr<Outstanding>> outstanding_;
  std::vector<FakeRequest> requests_;
  int64_t most_ = 0;
  int64_t cancelled_ = 0;
  Id last_id_ = 0;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_TESTING_FAKE_TRANSPORT_H_
