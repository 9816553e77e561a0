#include "io/files/http/testing/fake_transport.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "io/files/http/testing/plain_digests.h"

namespace headrace::http {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kForever = std::numeric_limits<int64_t>::max();
// Of a body that OnBody gets, so that bodies come in pieces.
constexpr size_t kPiece = 1000;

std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

// "bytes=5-9" and "bytes=5-"; nothing for other ranges.
struct AskedRange {
  size_t first;
  size_t last;
};
std::optional<AskedRange> RangeOf(std::string_view range) {
  constexpr std::string_view kUnit = "bytes=";
  if (range.substr(0, kUnit.size()) != kUnit) return std::nullopt;
  const char* const end = range.data() + range.size();
  AskedRange asked{0, std::numeric_limits<size_t>::max()};
  const auto first = std::from_chars(range.data() + kUnit.size(), end, asked.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  if (first.ptr + 1 != end && std::from_chars(first.ptr + 1, end, asked.last).ptr != end) return std::nullopt;
  return asked;
}

bool HasHeader(const std::vector<Header>& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(), [&](const Header& header) { return header.name == name; });
}

}  // namespace

std::string_view FakeRequest::Find(std::string_view name) const {
  const std::string wanted = InLowerCase(name);
  for (const Header& header : headers) {
    if (InLowerCase(header.name) == wanted) return header.value;
  }
  return {};
}

FakeReply ServeBytes(const FakeRequest& request, std::string_view body, std::string_view etag) {
  FakeReply reply;
  if (!etag.empty()) reply.headers.push_back({"etag", std::string(etag)});
  const std::string_view match = request.Find("if-match");
  if (!match.empty() && match != etag) {
    reply.status = 412;
    return reply;
  }
  const std::optional<AskedRange> range = RangeOf(request.Find("range"));
  if (range && range->first >= body.size()) {
    reply.status = 416;
    reply.headers.push_back({"content-range", "bytes */" + std::to_string(body.size())});
    return reply;
  }
  if (range) {
    const size_t last = std::min(range->last, body.size() - 1);
    reply.status = 206;
    reply.headers.push_back({"content-range", "bytes " + std::to_string(range->first) + "-" + std::to_string(last) +
                                                  "/" + std::to_string(body.size())});
    body = body.substr(range->first, last - range->first + 1);
  }
  if (request.method == "HEAD") {
    reply.headers.push_back({"content-length", std::to_string(body.size())});
  } else {
    reply.body = body;
  }
  return reply;
}

struct FakeTransport::Outstanding {
  Id id = 0;
  FakeRequest request;
  std::shared_ptr<Receiver> receiver;
  FakeReply reply;
  Outcome outcome;
  uint8_t* target = nullptr;
  size_t bytes = 0;
  bool cancelled = false;
  std::pair<int64_t, uint64_t> limit{kForever, 0};  // of the event that ends it for time
};

FakeTransport::FakeTransport(Answer answer, Time time) : answer_(std::move(answer)), time_(time) {
  if (time_ == Time::kJumps) thread_ = std::thread([this] { Serve(); });
}

FakeTransport::~FakeTransport() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  while (!outstanding_.empty()) {
    const std::shared_ptr<Outstanding> request = outstanding_.begin()->second;
    End(request, Fault::kCancelled, "the transport ends");
  }
}

void FakeTransport::Serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
    if (ends_) return;
    RunNext(lock, kForever);
  }
}

void FakeTransport::Advance(int64_t ns) {
  std::unique_lock<std::mutex> lock(mutex_);
  const int64_t until_ns = now_ns_ + ns;
  while (RunNext(lock, until_ns)) {
  }
  now_ns_ = until_ns;
}

bool FakeTransport::RunNext(std::unique_lock<std::mutex>& lock, int64_t until_ns) {
  if (waiting_.empty() || waiting_.begin()->first.first > until_ns) return false;
  auto next = waiting_.extract(waiting_.begin());
  now_ns_ = std::max(now_ns_, next.key().first);
  lock.unlock();
  next.mapped()();
  next.mapped() = nullptr;
  lock.lock();
  return true;
}

void FakeTransport::AddEvent(int64_t at_ns, Event event) {
  waiting_.emplace(std::pair(at_ns, ++events_), std::move(event));
  changed_.notify_all();
}

void FakeTransport::EventAfter(int64_t ns, Event event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  AddEvent(now_ns_ + ns, std::move(event));
}

Transport::Id FakeTransport::Start(Request request, std::shared_ptr<Receiver> receiver) {
  const auto started = std::make_shared<Outstanding>();
  started->receiver = std::move(receiver);
  FakeRequest& copy = started->request;
  copy.method = std::move(request.method);
  copy.url = std::move(request.url);
  copy.headers = std::move(request.headers);
  for (const std::string_view part : request.body) copy.body += part;
  copy.reach = std::move(request.reach);
  copy.deadline_ms = request.deadline_ms;
  const std::lock_guard<std::mutex> lock(mutex_);
  copy.at_ns = now_ns_;
  copy.number = static_cast<int>(requests_.size());
  started->id = ++last_id_;
  requests_.push_back(copy);
  outstanding_.emplace(started->id, started);
  most_ = std::max(most_, static_cast<int64_t>(outstanding_.size()));
  AddEvent(now_ns_, [this, started] { Begin(started); });
  return started->id;
}

void FakeTransport::Begin(const std::shared_ptr<Outstanding>& request) {
  FakeReply reply = answer_(request->request);
  const int64_t idle_ms = request->request.reach.idle_ms;
  const int64_t idle_ns = idle_ms > 0 ? idle_ms * kMillisecond : kForever;
  int64_t limit_ns = reply.stalls || reply.after_ns > idle_ns ? idle_ns : kForever;
  if (request->request.deadline_ms > 0) limit_ns = std::min(limit_ns, request->request.deadline_ms * kMillisecond);
  const bool headless = reply.status == 0;
  const bool never = headless && reply.stalls;
  const int64_t after_ns = reply.after_ns;
  request->outcome.connected = reply.connects;
  request->reply = std::move(reply);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (limit_ns != kForever) {
    AddEvent(now_ns_ + limit_ns, [this, request] { End(request, Fault::kTimedOut, "no byte came in time"); });
    request->limit = {now_ns_ + limit_ns, events_};
  }
  if (never) return;
  AddEvent(now_ns_ + after_ns, [this, request, headless] {
    if (!headless) return GiveHead(request);
    End(request, request->reply.fault, request->reply.reason);
  });
}

void FakeTransport::GiveHead(const std::shared_ptr<Outstanding>& request) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!outstanding_.contains(request->id) || request->cancelled) return;
    request->outcome.first_byte_ns = now_ns_ - request->request.at_ns;
  }
  FakeReply& reply = request->reply;
  Head& head = request->outcome.head;
  head.status = reply.status;
  head.headers = reply.headers;
  if (!HasHeader(head.headers, "content-length")) {
    head.headers.push_back({"content-length", std::to_string(reply.body.size())});
  }
  if (!request->receiver->OnHead(head, request->target, request->bytes)) {
    return End(request, Fault::kCancelled, "its receiver wants no body");
  }
  EventAfter(reply.lasts_ns, [this, request] { GiveBody(request); });
}

void FakeTransport::GiveBody(const std::shared_ptr<Outstanding>& request) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!outstanding_.contains(request->id) || request->cancelled) return;
  }
  const FakeReply& reply = request->reply;
  request->outcome.sent = static_cast<int64_t>(request->request.body.size());
  std::string_view body = reply.body;
  if (reply.fault != Fault::kNone || reply.stalls) body = body.substr(0, static_cast<size_t>(reply.cut_at));
  if (request->target != nullptr) {
    if (body.size() > request->bytes) return End(request, Fault::kTooLong, "the body is longer than its target");
    std::copy(body.begin(), body.end(), request->target);
    request->outcome.received = static_cast<int64_t>(body.size());
  } else {
    for (size_t done = 0; done < body.size(); done += kPiece) {
      const std::string_view piece = body.substr(done, kPiece);
      if (!request->receiver->OnBody(piece)) return End(request, Fault::kCancelled, "its receiver wants no more");
      request->outcome.received += static_cast<int64_t>(piece.size());
    }
  }
  if (!reply.stalls) End(request, reply.fault, reply.fault == Fault::kNone ? "" : reply.reason);
}

void FakeTransport::End(const std::shared_ptr<Outstanding>& request, Fault fault, std::string reason) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (outstanding_.erase(request->id) == 0) return;
    waiting_.erase(request->limit);
    if (request->cancelled) {
      ++cancelled_;
      fault = Fault::kCancelled;
      reason = "it was cancelled";
    }
    request->outcome.total_ns = now_ns_ - request->request.at_ns;
  }
  request->outcome.fault = fault;
  request->outcome.reason = std::move(reason);
  request->receiver->OnEnd(std::move(request->outcome));
  request->receiver = nullptr;
}

void FakeTransport::Cancel(Id id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = outstanding_.find(id);
  if (found == outstanding_.end() || found->second->cancelled) return;
  found->second->cancelled = true;
  AddEvent(now_ns_, [this, request = found->second] { End(request, Fault::kCancelled, ""); });
}

void FakeTransport::After(int64_t ns, std::function<void()> call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  AddEvent(now_ns_ + ns, std::move(call));
}

int64_t FakeTransport::Now() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return now_ns_;
}

int64_t FakeTransport::outstanding() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int64_t>(outstanding_.size());
}

std::vector<FakeRequest> FakeTransport::requests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

int64_t FakeTransport::most_outstanding() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return most_;
}

int64_t FakeTransport::cancelled() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return cancelled_;
}

Transport::Sha256 FakeTransport::DigestSha256(const std::vector<std::string_view>& parts) const {
  return PlainSha256(parts);
}

Transport::Sha256 FakeTransport::HmacSha256(std::string_view key, std::string_view text) const {
  return PlainHmacSha256(key, text);
}

Transport::Md5 FakeTransport::DigestMd5(const std::vector<std::string_view>& parts) const { return PlainMd5(parts); }

}  // namespace headrace::http
