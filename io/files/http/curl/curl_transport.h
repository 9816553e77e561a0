// `CurlTransport` is the transport over libcurl and OpenSSL: one thread with an epoll, on which all requests are.
// It lives as long as the process. Threads: any thread.
#ifndef HEADRACE_IO_FILES_HTTP_CURL_CURL_TRANSPORT_H_
#define HEADRACE_IO_FILES_HTTP_CURL_CURL_TRANSPORT_H_

#include <curl/curl.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "io/files/http/curl/curl_request.h"
#include "io/files/http/transport.h"

namespace headrace::http {

class CurlTransport : public Transport {
 public:
  // Null: this process has no descriptors, threads or memory left for it.
  static Transport* Make();

  Id Start(Request request, std::shared_ptr<Receiver> receiver) override;
  void Cancel(Id id) override;
  void After(int64_t ns, std::function<void()> call) override;
  int64_t Now() const override;
  int64_t outstanding() const override { return outstanding_.load(std::memory_order_relaxed); }
  Sha256 DigestSha256(const std::vector<std::string_view>& parts) const override;
  Sha256 HmacSha256(std::string_view key, std::string_view text) const override;
  Md5 DigestMd5(const std::vector<std::string_view>& parts) const override;
  std::string Versions() const override;

 private:
  // One request to a host at a time asks for its addresses; the others wait until it has a connection.
  struct Addresses {
    int64_t known_ns = -1;  // when they were found; -1: not known
    Id asks = 0;            // 0: none does
    std::deque<Id> waiting;
  };

  CurlTransport() = default;
  ~CurlTransport() override = default;  // never: it lives as long as the process
  bool Open();

  static int WatchSocket(CURL* handle, curl_socket_t socket, int what, void* self, void* unused);
  static int SetTimer(CURLM* multi, long ms, void* self);

  void Serve();
  void RunPosted();
  void RunTimers();
  void Wait();
  void Act(curl_socket_t socket, int events);
  void TakeEnded();
  int WaitMilliseconds() const;
  void Post(std::function<void()> call);
  bool on_event_thread() const { return std::this_thread::get_id() == thread_id_; }

  void Admit(std::unique_ptr<CurlRequest> request);
  void Launch(CurlRequest& request, bool resolves);
  // Ends the requests that are without a byte for too long, and looks again as long as there are any.
  void EndIdle();
  void FindAddresses(Addresses& addresses);
  void OnReached(Id id, const std::string& host);
  void OnEnded(Id id, const std::string& host, const Outcome& outcome);
  void EndCancelled(Id id);
  void End(Id id, Outcome outcome);
  CURL* TakeHandle();
  void KeepHandle(CURL* handle);

  std::atomic<int64_t> outstanding_{0};
  std::atomic<Id> last_id_{0};
  std::thread::id thread_id_;  // set before anything is posted

  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
  bool woken_ = false;

  // Of the event thread.
  int epoll_ = -1;
  int wake_ = -1;
  CURLM* multi_ = nullptr;
  int64_t curl_due_ns_ = -1;  // -1: never
  std::multimap<int64_t, std::function<void()>> timers_;
  std::map<Id, std::unique_ptr<CurlRequest>> requests_;
  std::map<std::string, Addresses> addresses_;
  std::vector<CURL*> handles_;  // free
  bool watches_idle_ = false;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_CURL_CURL_TRANSPORT_H_
