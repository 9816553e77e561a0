#include "io/files/http/curl/curl_transport.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <system_error>

#include "io/files/http/curl/steady_time.h"
#include "io/files/http/curl/transfer_memory.h"

namespace headrace::http {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
// Between two looks for requests without a byte.
constexpr int64_t kLeastWatch = 10 * kMillisecond;
constexpr int64_t kMostWatch = 1000 * kMillisecond;
constexpr long kMostKept = 1024;  // connections
constexpr size_t kMostHandles = 64;
constexpr size_t kMostHosts = 1024;
constexpr int kMostEvents = 128;
// Stores answer with other addresses each few seconds, to spread their load.
constexpr int64_t kAddressesLast = 30'000 * kMillisecond;

// Scheme, host and port: what addresses and connections belong to.
std::string HostPart(const std::string& url) {
  const size_t mark = url.find("://");
  if (mark == std::string::npos) return url;
  return url.substr(0, url.find_first_of("/?#", mark + 3));
}

// How requests reach a host: those of other proxies find no addresses for it.
std::string PlaceOf(const Request& request) { return HostPart(request.url) + '\n' + request.reach.proxy; }

// Threads that are made here get none of the process's signals.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

// Looked up once: OpenSSL looks for what has only a name at each use.
const EVP_MD* Sha256Kind() {
  static EVP_MD* const kind = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return kind == nullptr ? EVP_sha256() : kind;
}

template <size_t n, typename Parts>
std::array<uint8_t, n> DigestOf(const EVP_MD* kind, const Parts& parts) {
  std::array<uint8_t, n> digest{};
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  if (context == nullptr) return digest;
  EVP_DigestInit_ex(context, kind, nullptr);
  for (const std::string_view part : parts) EVP_DigestUpdate(context, part.data(), part.size());
  EVP_DigestFinal_ex(context, digest.data(), nullptr);
  EVP_MD_CTX_free(context);
  return digest;
}

std::string_view TextOf(const Transport::Sha256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

Transport* CurlTransport::Make() {
  // A process may end while requests are under way, so OpenSSL must not tear itself down before.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
  if (!TransferMemory::InitCurl()) return nullptr;
  auto* const transport = new CurlTransport;
  return transport->Open() ? transport : nullptr;
}

bool CurlTransport::Open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  multi_ = curl_multi_init();
  epoll_event wake{.events = EPOLLIN, .data = {.fd = wake_}};
  if (epoll_ < 0 || wake_ < 0 || multi_ == nullptr || epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &wake) != 0) return false;
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, WatchSocket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, SetTimer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kMostKept);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  const NoSignals none;
  try {
    // It begins when its id is known.
    const std::lock_guard<std::mutex> lock(mutex_);
    std::thread thread([this] { Serve(); });
    thread_id_ = thread.get_id();
    thread.detach();
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

int CurlTransport::WatchSocket(CURL* /*handle*/, curl_socket_t socket, int what, void* self, void* /*unused*/) {
  const int epoll = static_cast<CurlTransport*>(self)->epoll_;
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  epoll_event event{.events = 0, .data = {.fd = socket}};
  if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  if (epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) == 0) return 0;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) == 0 ? 0 : -1;
}

int CurlTransport::SetTimer(CURLM* /*multi*/, long ms, void* self) {
  static_cast<CurlTransport*>(self)->curl_due_ns_ = ms < 0 ? -1 : SteadyNs() + ms * kMillisecond;
  return 0;
}

void CurlTransport::Serve() {
  pthread_setname_np(pthread_self(), "headrace-far");
  while (true) {
    RunPosted();
    RunTimers();
    TakeEnded();
    Wait();
  }
}

void CurlTransport::Post(std::function<void()> call) {
  bool wakes;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    posted_.push_back(std::move(call));
    wakes = !woken_ && !on_event_thread();
    if (wakes) woken_ = true;
  }
  if (!wakes) return;
  const uint64_t one = 1;
  while (write(wake_, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void CurlTransport::RunPosted() {
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    calls.swap(posted_);
  }
  for (std::function<void()>& call : calls) {
    call();
    call = nullptr;
  }
}

void CurlTransport::RunTimers() {
  const int64_t now = SteadyNs();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const auto timer = timers_.extract(timers_.begin());
    timer.mapped()();
  }
  if (curl_due_ns_ < 0 || curl_due_ns_ > now) return;
  curl_due_ns_ = -1;
  Act(CURL_SOCKET_TIMEOUT, 0);
}

int CurlTransport::WaitMilliseconds() const {
  int64_t due = curl_due_ns_;
  if (!timers_.empty() && (due < 0 || timers_.begin()->first < due)) due = timers_.begin()->first;
  if (due < 0) return -1;
  const int64_t left = due - SteadyNs();
  return left <= 0 ? 0 : static_cast<int>(std::min<int64_t>(60'000, (left + kMillisecond - 1) / kMillisecond));
}

void CurlTransport::Wait() {
  int timeout = WaitMilliseconds();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!posted_.empty()) timeout = 0;
  }
  std::array<epoll_event, kMostEvents> events;
  const int count = epoll_wait(epoll_, events.data(), kMostEvents, timeout);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.fd == wake_) {
      const std::lock_guard<std::mutex> lock(mutex_);
      uint64_t times;
      woken_ = read(wake_, &times, sizeof times) < 0 && errno == EINTR;
      continue;
    }
    int what = 0;
    if ((event.events & (EPOLLIN | EPOLLHUP)) != 0) what |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
    if ((event.events & EPOLLERR) != 0) what |= CURL_CSELECT_ERR;
    Act(event.data.fd, what);
  }
}

void CurlTransport::Act(curl_socket_t socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, socket, events, &running);
}

void CurlTransport::TakeEnded() {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    CurlRequest* request = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &request);
    End(request->id(), request->End(code));
  }
}

Transport::Id CurlTransport::Start(Request request, std::shared_ptr<Receiver> receiver) {
  const Id id = last_id_.fetch_add(1) + 1;
  outstanding_.fetch_add(1, std::memory_order_relaxed);
  std::string place = PlaceOf(request);
  auto started = std::make_shared<std::unique_ptr<CurlRequest>>(
      std::make_unique<CurlRequest>(id, std::move(place), std::move(request), std::move(receiver), SteadyNs(),
                                    [this, id] { OnReached(id, requests_.at(id)->place()); }));
  Post([this, started] { Admit(std::move(*started)); });
  return id;
}

void CurlTransport::Admit(std::unique_ptr<CurlRequest> request) {
  const Id id = request->id();
  const std::string& host = request->place();
  CurlRequest& admitted = *request;
  requests_.emplace(id, std::move(request));
  if (addresses_.size() >= kMostHosts && !addresses_.contains(host)) {
    std::erase_if(addresses_, [](const auto& each) { return each.second.asks == 0 && each.second.waiting.empty(); });
  }
  Addresses& addresses = addresses_[host];
  const bool known = addresses.known_ns >= 0;
  if (known && (addresses.asks != 0 || SteadyNs() - addresses.known_ns < kAddressesLast)) {
    return Launch(admitted, false);
  }
  addresses.waiting.push_back(id);
  FindAddresses(addresses);
}

// Lets the first that waits ask, unless one does.
void CurlTransport::FindAddresses(Addresses& addresses) {
  if (addresses.asks != 0 || addresses.waiting.empty()) return;
  addresses.asks = addresses.waiting.front();
  addresses.waiting.pop_front();
  Launch(*requests_.at(addresses.asks), true);
}

// Within a call of libcurl: the others are started by the loop.
void CurlTransport::OnReached(Id id, const std::string& host) {
  const auto found = addresses_.find(host);
  if (found == addresses_.end() || found->second.asks != id) return;
  found->second.asks = 0;
  found->second.known_ns = SteadyNs();
  Post([this, waiting = std::exchange(found->second.waiting, {})] {
    for (const Id each : waiting) {
      const auto request = requests_.find(each);
      if (request != requests_.end()) Launch(*request->second, false);
    }
  });
}

// Where the one that asked got no connection.
void CurlTransport::OnEnded(Id id, const std::string& host, const Outcome& outcome) {
  const auto found = addresses_.find(host);
  if (found == addresses_.end()) return;
  Addresses& addresses = found->second;
  std::erase(addresses.waiting, id);
  if (addresses.asks != id) return;
  addresses.asks = 0;
  addresses.known_ns = -1;
  const Fault fault = outcome.fault;
  if (fault != Fault::kNoHost && fault != Fault::kRefused) return FindAddresses(addresses);
  // In turn each would wait for as long.
  for (const Id each : std::exchange(addresses.waiting, {})) {
    Post([this, each, fault, reason = outcome.reason] {
      const auto request = requests_.find(each);
      if (request != requests_.end()) End(each, request->second->EndWith(fault, reason));
    });
  }
}

void CurlTransport::Launch(CurlRequest& request, bool resolves) {
  const Id id = request.id();
  CURL* const handle = request.cancelled() ? nullptr : TakeHandle();
  if (handle != nullptr && request.SetUp(handle, resolves) && curl_multi_add_handle(multi_, handle) == CURLM_OK) {
    if (!watches_idle_) After(kLeastWatch, [this] { EndIdle(); });
    watches_idle_ = true;
    return;
  }
  // After the caller, which may hold on to what the end changes.
  Post([this, id] {
    const auto found = requests_.find(id);
    if (found == requests_.end()) return;
    End(id, found->second->EndUnsent());
  });
}

// libcurl's own limit is of a speed, which it averages over five seconds.
void CurlTransport::EndIdle() {
  const int64_t now = SteadyNs();
  int64_t next = kMostWatch;
  std::vector<Id> idle;
  for (const auto& [id, request] : requests_) {
    const int64_t left = request->IdleLeft(now);
    if (left <= 0) {
      idle.push_back(id);
    } else {
      next = std::min(next, left);
    }
  }
  for (const Id id : idle) {
    const auto found = requests_.find(id);
    if (found != requests_.end()) End(id, found->second->EndWith(Fault::kTimedOut, "no byte came for too long"));
  }
  watches_idle_ = !requests_.empty();
  if (watches_idle_) After(std::max(next, kLeastWatch), [this] { EndIdle(); });
}

void CurlTransport::Cancel(Id id) {
  if (!on_event_thread()) return Post([this, id] { Cancel(id); });
  const auto found = requests_.find(id);
  if (found != requests_.end()) found->second->Cancel();
  // Perhaps within a call of libcurl, or before the request was admitted.
  Post([this, id] { EndCancelled(id); });
}

void CurlTransport::EndCancelled(Id id) {
  const auto found = requests_.find(id);
  if (found != requests_.end()) End(id, found->second->EndWith(Fault::kCancelled, "it was cancelled"));
}

void CurlTransport::End(Id id, Outcome outcome) {
  const auto found = requests_.find(id);
  const std::unique_ptr<CurlRequest> request = std::move(found->second);
  requests_.erase(found);
  if (request->handle() != nullptr) {
    curl_multi_remove_handle(multi_, request->handle());
    KeepHandle(request->handle());
  }
  OnEnded(id, request->place(), outcome);
  outstanding_.fetch_sub(1, std::memory_order_relaxed);
  request->receiver().OnEnd(std::move(outcome));
}

CURL* CurlTransport::TakeHandle() {
  if (handles_.empty()) return curl_easy_init();
  CURL* const handle = handles_.back();
  handles_.pop_back();
  return handle;
}

void CurlTransport::KeepHandle(CURL* handle) {
  if (handles_.size() >= kMostHandles) return curl_easy_cleanup(handle);
  curl_easy_reset(handle);
  handles_.push_back(handle);
}

void CurlTransport::After(int64_t ns, std::function<void()> call) {
  if (ns <= 0) return Post(std::move(call));
  const int64_t due = SteadyNs() + ns;
  if (on_event_thread()) {
    timers_.emplace(due, std::move(call));
  } else {
    Post([this, due, call = std::move(call)]() mutable { timers_.emplace(due, std::move(call)); });
  }
}

int64_t CurlTransport::Now() const { return SteadyNs(); }

Transport::Sha256 CurlTransport::DigestSha256(const std::vector<std::string_view>& parts) const {
  return DigestOf<32>(Sha256Kind(), parts);
}

Transport::Md5 CurlTransport::DigestMd5(const std::vector<std::string_view>& parts) const {
  return DigestOf<16>(EVP_md5(), parts);
}

Transport::Sha256 CurlTransport::HmacSha256(std::string_view key, std::string_view text) const {
  // By its definition (RFC 2104): OpenSSL's own function looks up its parts at each use, which costs more.
  constexpr size_t kBlock = 64;
  Sha256 short_key;
  if (key.size() > kBlock) {
    short_key = DigestOf<32>(Sha256Kind(), std::array{key});
    key = TextOf(short_key);
  }
  std::string padded(key);
  padded.resize(kBlock, '\0');
  for (char& byte : padded) byte = static_cast<char>(byte ^ 0x36);
  const Sha256 inner = DigestOf<32>(Sha256Kind(), std::array{std::string_view(padded), text});
  for (char& byte : padded) byte = static_cast<char>(byte ^ 0x36 ^ 0x5C);
  return DigestOf<32>(Sha256Kind(), std::array{std::string_view(padded), TextOf(inner)});
}

std::string CurlTransport::Versions() const {
  const curl_version_info_data* const curl = curl_version_info(CURLVERSION_NOW);
  return std::string("curl ") + curl->version + ", OpenSSL " + OpenSSL_version(OPENSSL_VERSION_STRING);
}

}  // namespace headrace::http

extern "C" __attribute__((visibility("default"))) headrace::http::Transport* headrace_make_transport(int version) {
  return version == headrace::http::kTransportVersion ? headrace::http::CurlTransport::Make() : nullptr;
}
