#include "io/files/http/curl/curl_request.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "io/files/http/curl/steady_time.h"

namespace headrace::http {
namespace {

constexpr long kWholeBuffer = 512 * 1024;
constexpr long kSmallBuffer = 64 * 1024;
constexpr size_t kLargeBody = 1 << 20;
// More than any server sends; a head without end would take memory.
constexpr size_t kMostHead = 256 * 1024;
constexpr size_t kMostHeaders = 500;
constexpr int64_t kIdleMillisecond = 1'000'000;
constexpr int64_t kNoLimitOfTime = std::numeric_limits<int64_t>::max();
// Known addresses stay in use until the transport resolves the host anew.
constexpr long kKeepAddresses = -1;
constexpr long kFreshAddresses = 10;

curl_socket_t OpenSocket(void* /*unused*/, curlsocktype /*purpose*/, curl_sockaddr* address) {
  // A process that is started meanwhile does not inherit it.
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

bool IsRead(const std::string& method) { return method == "GET" || method == "HEAD"; }

std::string_view WithoutSpaces(std::string_view text) {
  const auto is_space = [](char letter) { return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string LowerName(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return lower;
}

}  // namespace

CurlRequest::CurlRequest(Transport::Id id, std::string place, Request request, std::shared_ptr<Receiver> receiver,
                         int64_t started_ns, std::function<void()> reached)
    : id_(id),
      place_(std::move(place)),
      request_(std::move(request)),
      receiver_(std::move(receiver)),
      started_ns_(started_ns),
      reached_(std::move(reached)) {
  for (const std::string_view part : request_.body) body_bytes_ += static_cast<int64_t>(part.size());
}

int64_t CurlRequest::IdleLeft(int64_t now_ns) const {
  if (request_.reach.idle_ms <= 0) return kNoLimitOfTime;
  const int64_t most = request_.reach.idle_ms * kIdleMillisecond;
  return last_byte_ns_ == 0 ? most : last_byte_ns_ + most - now_ns;
}

CurlRequest::~CurlRequest() { curl_slist_free_all(headers_); }

bool CurlRequest::SetUp(CURL* handle, bool resolves) {
  handle_ = handle;
  SetUpReach(resolves);
  return SetUpHead() && SetUpBody();
}

void CurlRequest::SetUpReach(bool resolves) {
  const Reach& reach = request_.reach;
  curl_easy_setopt(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle_, CURLOPT_OPENSOCKETFUNCTION, OpenSocket);
  curl_easy_setopt(handle_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(handle_, CURLOPT_FRESH_CONNECT, resolves ? 1L : 0L);
  curl_easy_setopt(handle_, CURLOPT_DNS_CACHE_TIMEOUT, resolves ? kFreshAddresses : kKeepAddresses);
  curl_easy_setopt(handle_, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
  curl_easy_setopt(handle_, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(reach.connect_ms));
  if (request_.deadline_ms > 0) curl_easy_setopt(handle_, CURLOPT_TIMEOUT_MS, static_cast<long>(request_.deadline_ms));
  curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!reach.ca_file.empty()) {
    curl_easy_setopt(handle_, CURLOPT_CAINFO, reach.ca_file.c_str());
    curl_easy_setopt(handle_, CURLOPT_PROXY_CAINFO, reach.ca_file.c_str());
  }
  if (!reach.proxy.empty()) {
    curl_easy_setopt(handle_, CURLOPT_PROXY, reach.proxy.c_str());
    curl_easy_setopt(handle_, CURLOPT_NOPROXY, "");
  }
}

bool CurlRequest::SetUpHead() {
  curl_easy_setopt(handle_, CURLOPT_PRIVATE, this);
  curl_easy_setopt(handle_, CURLOPT_ERRORBUFFER, reason_.data());
  curl_easy_setopt(handle_, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(handle_, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(handle_, CURLOPT_USERAGENT, "headrace");
  curl_easy_setopt(handle_, CURLOPT_PREREQFUNCTION, Reached);
  curl_easy_setopt(handle_, CURLOPT_PREREQDATA, this);
  curl_easy_setopt(handle_, CURLOPT_HEADERFUNCTION, TakeHeader);
  curl_easy_setopt(handle_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION, TakeBody);
  curl_easy_setopt(handle_, CURLOPT_WRITEDATA, this);
  for (const Header& header : request_.headers) {
    if (!AddHeader(header)) return false;
  }
  // The body is sent without asking first.
  if (!AddHeader({"Expect", ""})) return false;
  curl_easy_setopt(handle_, CURLOPT_HTTPHEADER, headers_);
  return curl_easy_setopt(handle_, CURLOPT_URL, request_.url.c_str()) == CURLE_OK;
}

bool CurlRequest::AddHeader(const Header& header) {
  const std::string line = header.name + (header.value.empty() && header.name != "Expect" ? ";" : ": " + header.value);
  // What ends a line would begin a header that nobody asked for.
  if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    not_sendable_ = true;
    return false;
  }
  curl_slist* const longer = curl_slist_append(headers_, line.c_str());
  if (longer == nullptr) return false;
  headers_ = longer;
  return true;
}

bool CurlRequest::SetUpBody() {
  const bool large = body_bytes_ > static_cast<int64_t>(kLargeBody) || request_.method == "GET";
  curl_easy_setopt(handle_, CURLOPT_BUFFERSIZE, large ? kWholeBuffer : kSmallBuffer);
  if (request_.method == "HEAD") {
    curl_easy_setopt(handle_, CURLOPT_NOBODY, 1L);
  } else if (!IsRead(request_.method) && (body_bytes_ > 0 || request_.method == "PUT" || request_.method == "POST")) {
    curl_easy_setopt(handle_, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(handle_, CURLOPT_UPLOAD_BUFFERSIZE, large ? kWholeBuffer : kSmallBuffer);
    curl_easy_setopt(handle_, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(body_bytes_));
    curl_easy_setopt(handle_, CURLOPT_READFUNCTION, GiveBody);
    curl_easy_setopt(handle_, CURLOPT_READDATA, this);
    curl_easy_setopt(handle_, CURLOPT_SEEKFUNCTION, SeekBody);
    curl_easy_setopt(handle_, CURLOPT_SEEKDATA, this);
  }
  if (request_.method != "HEAD" && request_.method != "GET") {
    curl_easy_setopt(handle_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
  return true;
}

int CurlRequest::Reached(void* self, char* /*remote*/, char* /*local*/, int /*remote_port*/, int /*local_port*/) {
  auto* const request = static_cast<CurlRequest*>(self);
  request->connected_ = true;
  request->last_byte_ns_ = SteadyNs();
  request->reached_();
  return request->cancelled_ ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

size_t CurlRequest::TakeHeader(char* line, size_t /*one*/, size_t bytes, void* self) {
  auto* const request = static_cast<CurlRequest*>(self);
  // Nothing may be thrown through libcurl.
  try {
    return request->OnLine({line, bytes});
  } catch (const std::bad_alloc&) {
    request->no_memory_ = true;
    return 0;
  }
}

size_t CurlRequest::OnLine(std::string_view line) {
  if (cancelled_) return 0;
  last_byte_ns_ = SteadyNs();
  if (head_given_) return line.size();  // after the body
  if (first_byte_ns_ == 0) first_byte_ns_ = last_byte_ns_ - started_ns_;
  head_bytes_ += line.size();
  if (head_bytes_ > kMostHead || head_.headers.size() > kMostHeaders) {
    endless_head_ = true;
    return 0;
  }
  const std::string_view text = WithoutSpaces(line);
  if (text.substr(0, 5) == "HTTP/") {
    head_ = Head();
  } else if (text.empty()) {
    long status = 0;
    curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
    head_.status = static_cast<int>(status);
    const bool interim = status < 200;
    if (!interim && !OnHeadEnd()) return 0;
  } else if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    head_.headers.push_back(
        {LowerName(WithoutSpaces(text.substr(0, colon))), std::string(WithoutSpaces(text.substr(colon + 1)))});
  }
  return line.size();
}

bool CurlRequest::OnHeadEnd() {
  head_given_ = true;
  if (receiver_->OnHead(head_, target_, target_bytes_)) return true;
  stopped_ = true;
  return false;
}

size_t CurlRequest::TakeBody(char* data, size_t /*one*/, size_t bytes, void* self) {
  auto* const request = static_cast<CurlRequest*>(self);
  try {
    return request->OnPiece({data, bytes}) ? bytes : 0;
  } catch (const std::bad_alloc&) {
    request->no_memory_ = true;
    return 0;
  }
}

bool CurlRequest::OnPiece(std::string_view piece) {
  if (cancelled_ || !head_given_) return piece.empty();
  last_byte_ns_ = SteadyNs();
  if (target_ != nullptr) {
    if (piece.size() > target_bytes_ - static_cast<size_t>(received_)) {
      too_long_ = true;
      return false;
    }
    std::memcpy(target_ + received_, piece.data(), piece.size());
  } else if (!receiver_->OnBody(piece)) {
    stopped_ = true;
    return false;
  }
  received_ += static_cast<int64_t>(piece.size());
  return true;
}

size_t CurlRequest::GiveBody(char* data, size_t one, size_t bytes, void* self) {
  auto* const request = static_cast<CurlRequest*>(self);
  if (request->cancelled_) return CURL_READFUNC_ABORT;
  const size_t room = one * bytes;
  size_t given = 0;
  while (given < room && request->sent_part_ < request->request_.body.size()) {
    const std::string_view rest = request->request_.body[request->sent_part_].substr(request->sent_bytes_);
    const size_t count = std::min(rest.size(), room - given);
    std::memcpy(data + given, rest.data(), count);
    given += count;
    request->sent_bytes_ += count;
    if (count < rest.size()) break;
    ++request->sent_part_;
    request->sent_bytes_ = 0;
  }
  request->sent_ += static_cast<int64_t>(given);
  request->last_byte_ns_ = SteadyNs();
  return given;
}

// Where a connection that was kept turns out to be closed, libcurl begins again.
int CurlRequest::SeekBody(void* self, curl_off_t offset, int origin) {
  auto* const request = static_cast<CurlRequest*>(self);
  if (offset != 0 || origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  request->sent_part_ = request->sent_bytes_ = 0;
  return CURL_SEEKFUNC_OK;
}

Fault CurlRequest::FaultOf(CURLcode code) const {
  if (cancelled_ || stopped_) return Fault::kCancelled;
  if (too_long_) return Fault::kTooLong;
  if (endless_head_) return Fault::kMalformed;
  if (no_memory_) return Fault::kOther;
  if (HasBadProxy()) return Fault::kNotSent;
  switch (code) {
    case CURLE_OK:
      return Fault::kNone;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Fault::kNoHost;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
      return Fault::kRefused;
    case CURLE_URL_MALFORMAT:
      return Fault::kNotSent;
    case CURLE_UNSUPPORTED_PROTOCOL:
      // Of the URL, or of the reply.
      return connected_ ? Fault::kMalformed : Fault::kNotSent;
    case CURLE_OPERATION_TIMEDOUT:
      return connected_ ? Fault::kTimedOut : Fault::kRefused;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
      return Fault::kCut;
    case CURLE_SSL_CONNECT_ERROR: {
      long error = 0;
      curl_easy_getinfo(handle_, CURLINFO_OS_ERRNO, &error);
      // A host that is too busy closes connections before it has said anything.
      const std::string_view reason = reason_.data();
      const bool broken = error != 0 || reason.find("SSL_ERROR_SYSCALL") != std::string_view::npos ||
                          reason.find("unexpected eof") != std::string_view::npos;
      return broken ? Fault::kCut : Fault::kTls;
    }
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      return Fault::kTls;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_FILESIZE_EXCEEDED:
    case CURLE_WRITE_ERROR:
      return Fault::kMalformed;
    default:
      return Fault::kOther;
  }
}

// libcurl's words about it hold all of the proxy's address, and so its password.
bool CurlRequest::HasBadProxy() const {
  const std::string_view reason = reason_.data();
  return reason.starts_with("Unsupported proxy");
}

Outcome CurlRequest::EndUnsent() {
  if (cancelled_) return EndWith(Fault::kCancelled, "it was cancelled");
  if (not_sendable_) return EndWith(Fault::kNotSent, "a header of the request has a line end in it");
  return EndWith(Fault::kOther, "no memory for the request");
}

Outcome CurlRequest::End(CURLcode code) {
  std::string_view reason = reason_.data();
  if (reason.empty() && code != CURLE_OK) reason = curl_easy_strerror(code);
  if (code == CURLE_URL_MALFORMAT) reason = "its address is not a URL";
  if (endless_head_) reason = "the head of the reply does not end";
  if (no_memory_) reason = "no memory for the reply";
  if (HasBadProxy()) reason = "the address of the proxy is not one of http";
  Outcome outcome = EndWith(FaultOf(code), reason);
  long connections = 0;
  curl_easy_getinfo(handle_, CURLINFO_NUM_CONNECTS, &connections);
  outcome.connected = connections > 0;
  return outcome;
}

Outcome CurlRequest::EndWith(Fault fault, std::string_view reason) {
  Outcome outcome;
  outcome.fault = fault;
  if (fault != Fault::kNone) outcome.reason = reason;
  if (head_given_) outcome.head = std::move(head_);
  outcome.received = received_;
  outcome.sent = sent_;
  outcome.first_byte_ns = first_byte_ns_;
  outcome.total_ns = SteadyNs() - started_ns_;
  return outcome;
}

}  // namespace headrace::http
