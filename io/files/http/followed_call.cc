#include "io/files/http/followed_call.h"

#include <utility>

#include "core/error.h"
#include "core/printable.h"
#include "core/stop_signal.h"
#include "io/files/cancellation.h"
#include "io/files/http/header_text.h"
#include "io/files/http/url.h"

namespace headrace::http {
namespace {

constexpr int kMostRedirects = 5;
// Longer addresses are not remembered: a host may send one of any length for each file.
constexpr size_t kMostOfAddress = 4096;
constexpr size_t kMostShownOfAddress = 200;

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool IsSecure(const std::string& url) { return OriginOf(url).starts_with("https:"); }

}  // namespace

std::string FinalAddresses::Of(const std::string& url) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_url_.find(url);
  return found == by_url_.end() ? std::string() : found->second;
}

void FinalAddresses::Keep(const std::string& url, const std::string& last) {
  if (last.size() > kMostOfAddress) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  // Any of them may go: the next request is redirected again.
  if (by_url_.size() >= kMost) by_url_.erase(by_url_.begin());
  by_url_.insert_or_assign(url, last);
}

void FinalAddresses::Forget(const std::string& url) {
  const std::lock_guard<std::mutex> lock(mutex_);
  by_url_.erase(url);
}

FollowedCall::FollowedCall(const Means* means, Call call, HttpClient::Done done)
    : means_(means), call_(std::move(call)), done_(std::move(done)) {}

void FollowedCall::Start() {
  url_ = means_->addresses->Of(call_.request.url);
  kept_address_ = !url_.empty();
  if (!kept_address_) url_ = call_.request.url;
  Send();
}

void FollowedCall::Send() {
  Call call = call_;
  const bool first_host = OriginOf(url_) == OriginOf(call.request.url);
  call.request.url = url_;
  if (!means_->authorization.empty() && first_host) {
    call.request.headers.push_back({"Authorization", means_->authorization});
  }
  std::unique_lock<std::mutex> lock(mutex_);
  if (cancelled_) {
    lock.unlock();
    return done_(StopSignal::Error());
  }
  // Done comes on the event thread, which may have to wait for the id.
  id_ = means_->client->Start(
      std::move(call), [self = shared_from_this()](absl::StatusOr<Reply> reply) { self->Take(std::move(reply)); });
}

void FollowedCall::Cancel() {
  const std::lock_guard<std::mutex> lock(mutex_);
  cancelled_ = true;
  if (id_ != 0) means_->client->Cancel(id_);
}

void FollowedCall::Take(absl::StatusOr<Reply> reply) {
  if (!reply.ok()) {
    // The next request asks the first host again.
    if (kept_address_) means_->addresses->Forget(call_.request.url);
    return done_(std::move(reply));
  }
  const int status = reply->head.status;
  if (IsRedirect(status) && !reply->head.Find("location").empty()) {
    absl::Status followed = Follow(reply->head);
    return followed.ok() ? Send() : done_(std::move(followed));
  }
  // An address that was signed for a while.
  if (kept_address_ && (status == 401 || status == 403 || status == 404 || status == 410)) {
    means_->addresses->Forget(call_.request.url);
    kept_address_ = false;
    url_ = call_.request.url;
    return Send();
  }
  const bool good = status == 200 || status == 206;
  if (good && redirects_ > 0) means_->addresses->Keep(call_.request.url, url_);
  done_(std::move(reply));
}

absl::Status FollowedCall::Follow(const Head& head) {
  if (++redirects_ > kMostRedirects) {
    return DataError(call_.name, " is redirected more than ", kMostRedirects, " times; give the address where it ends");
  }
  HEADRACE_ASSIGN_OR_RETURN(const std::string given, ResolveUrl(url_, head.Find("location")));
  // Hosts send spaces and letters beyond ASCII.
  std::string next = EncodedUrl(given);
  if (IsSecure(url_) && !IsSecure(next)) {
    return DataError(call_.name,
                     " is redirected from https to http, where anybody may change it; if that is meant, "
                     "give the address of http: ",
                     PrintableStart(ShownUrl(next), kMostShownOfAddress));
  }
  url_ = std::move(next);
  return absl::OkStatus();
}

std::shared_ptr<FollowedCalls> FollowedCalls::OfThisThread() {
  auto calls = std::make_shared<FollowedCalls>();
  if (const auto cancellation = Cancellation::Current()) cancellation->Add([calls] { calls->Cancel(); });
  return calls;
}

void FollowedCalls::Start(std::shared_ptr<FollowedCall> call) {
  bool cancelled;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    calls_.push_back(call);
    cancelled = cancelled_;
  }
  if (cancelled) call->Cancel();
  call->Start();
}

void FollowedCalls::Cancel() {
  std::vector<std::weak_ptr<FollowedCall>> calls;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    cancelled_ = true;
    calls.swap(calls_);
  }
  for (const std::weak_ptr<FollowedCall>& each : calls) {
    if (const std::shared_ptr<FollowedCall> call = each.lock()) call->Cancel();
  }
}

}  // namespace headrace::http
