#include "io/files/http/running_call.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/printable.h"
#include "core/quantity_text.h"
#include "core/stop_signal.h"
#include "core/text.h"
#include "io/files/http/attempt.h"
#include "io/files/http/content_range.h"
#include "io/files/http/header_text.h"
#include "io/files/http/url.h"

namespace headrace::http {
namespace {

constexpr int64_t kCallMillisecond = 1'000'000;
constexpr int64_t kNoDeadline = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostOfError = int64_t{1} << 20;
constexpr int64_t kMostOfHedge = int64_t{16} << 20;
// A call that gets so far starts to count its failures anew.
constexpr int64_t kProgress = int64_t{64} << 10;
constexpr int64_t kTokenWait = 500 * kCallMillisecond;
constexpr size_t kMostHosts = 1024;
// Of what a host says, in an error.
constexpr size_t kMostShown = 200;

std::optional<int64_t> ContentLength(const Head& head) {
  const std::string_view text = head.Find("content-length");
  int64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || bytes < 0) return std::nullopt;
  return bytes;
}

bool IsSuccess(int status) { return status == 200 || status == 206; }

Verdict UsualVerdict(const Head& head) {
  switch (head.status) {
    case 408:
    case 500:
    case 502:
    case 504:
      return Verdict::kRetry;
    case 429:
    case 503:
      return Verdict::kThrottled;
    default:
      return Verdict::kResult;
  }
}

Failure FailureOf(Fault fault) {
  switch (fault) {
    case Fault::kNoHost:
    case Fault::kRefused:
      return Failure::kUnreached;
    case Fault::kMalformed:
      return Failure::kWrong;
    default:
      return Failure::kBroken;
  }
}

std::string TimeText(int64_t ns) { return SecondsText(static_cast<double>(ns) / 1e9); }

}  // namespace

std::shared_ptr<HostLimits> Hosts::Of(std::string_view url, std::string_view proxy, int64_t now_ns) {
  const std::string place = Cat(OriginOf(url), " ", proxy);
  const auto found = by_place_.find(place);
  if (found != by_place_.end()) return found->second;
  // Lists of URLs may name any number of hosts.
  if (by_place_.size() >= kMostHosts) std::erase_if(by_place_, [](const auto& host) { return host.second->idle(); });
  return by_place_.emplace(place, std::make_shared<HostLimits>(now_ns)).first->second;
}

RunningCall::RunningCall(Call call, HttpClient::Done done, std::shared_ptr<const Means> means)
    : call_(std::move(call)), done_(std::move(done)), means_(std::move(means)) {}

RunningCall::~RunningCall() { StopHedge(); }

void RunningCall::Later(int64_t ns, void (RunningCall::*step)()) {
  means_->transport->After(ns, [self = shared_from_this(), step] { ((*self).*step)(); });
}

void RunningCall::Begin() {
  began_ns_ = paused_ns_ = Now();
  host_ = means_->hosts->Of(call_.request.url, means_->reach.proxy, began_ns_);
  means_->counters->Add([this](StoreCounters& counters) {
    ++(call_.purpose == Purpose::kRead   ? counters.reads
       : call_.purpose == Purpose::kList ? counters.lists
                                         : counters.writes);
  });
  WaitForPlace();
}

void RunningCall::Cancel() {
  if (ended()) return;
  cancelled_ = true;
  if (attempts_.empty()) return Finish(StopSignal::Error());
  for (const std::shared_ptr<Attempt>& attempt : attempts_) means_->transport->Cancel(attempt->id);
}

void RunningCall::WaitForPlace() {
  if (ended()) return;
  if (host_->Enter(means_->connections, Now())) return Send();
  host_->Queue(means_->connections, failures_ > 0, [self = shared_from_this()] {
    if (self->ended()) return self->host_->Leave(self->Now());
    self->Send();
  });
}

void RunningCall::ServeQueue() {
  while (const std::function<void()> go = host_->NextReady(Now())) go();
}

void RunningCall::EndPause() {
  const int64_t paused = Now() - paused_ns_;
  waited_ns_ += paused;
  means_->counters->Add([&](StoreCounters& counters) { counters.paused_ns += paused; });
}

// With a place taken.
void RunningCall::Send() {
  EndPause();
  if (made_ == 0) host_->CountRequest();
  Request request;
  absl::Status made = MakeTarget();
  if (made.ok()) made = MakeRequest(request);
  if (!made.ok()) {
    host_->Leave(Now());
    Later(0, &RunningCall::ServeQueue);
    return Finish(std::move(made));
  }
  StartAttempt(std::move(request), false);
  if (call_.may_hedge) AwaitHedge();
}

absl::Status RunningCall::MakeTarget() {
  if (!call_.make_target) return absl::OkStatus();
  call_.target = call_.make_target();
  if (call_.target.empty()) return ResourceError("no memory for ", call_.name);
  call_.make_target = nullptr;
  return absl::OkStatus();
}

bool RunningCall::has_own_guard() const {
  return std::any_of(call_.request.headers.begin(), call_.request.headers.end(),
                     [](const Header& header) { return IsHeader(header.name, "if-match"); });
}

bool RunningCall::MayResume(const Attempt& attempt) const {
  if (call_.prepare_resumes) return true;
  return call_.range.has_value() && (IsStrongEtag(attempt.head.Find("etag")) || has_own_guard());
}

int64_t RunningCall::deadline_ns() const {
  if (call_.request.deadline_ms == 0) return kNoDeadline;
  return call_.request.deadline_ms * kCallMillisecond - (Now() - began_ns_);
}

absl::Status RunningCall::MakeRequest(Request& request) const {
  request = call_.request;
  HEADRACE_RETURN_IF_ERROR(AddReach(request));
  HEADRACE_RETURN_IF_ERROR(AddRange(request));
  return call_.prepare ? call_.prepare(request, received_) : absl::OkStatus();
}

absl::Status RunningCall::AddReach(Request& request) const {
  request.reach = means_->reach;
  const int64_t left_ns = deadline_ns();
  if (left_ns <= 0) return GivenUpError(Failure::kBroken, "its time is over");
  if (left_ns != kNoDeadline) request.deadline_ms = std::max<int64_t>(1, left_ns / kCallMillisecond);
  return absl::OkStatus();
}

absl::Status RunningCall::AddRange(Request& request) const {
  if (!call_.range) return absl::OkStatus();
  const auto& [offset, bytes] = *call_.range;
  // Some servers take a range that ends before it begins for no range at all.
  if (offset < 0 || bytes <= received_ || offset > std::numeric_limits<int64_t>::max() - bytes) {
    return InternalError(call_.name, ": a request for ", bytes - received_, " bytes from byte ", offset + received_);
  }
  request.headers.push_back({"Range", Cat("bytes=", offset + received_, "-", offset + bytes - 1)});
  if (received_ > 0 && !has_own_guard()) request.headers.push_back({"If-Match", etag_});
  return absl::OkStatus();
}

void RunningCall::StartAttempt(Request request, bool hedge) {
  const auto attempt = std::make_shared<Attempt>(shared_from_this(), received_, hedge);
  attempts_.push_back(attempt);
  ++made_;
  attempt->id = means_->transport->Start(std::move(request), attempt);
}

void RunningCall::AwaitHedge() {
  const int64_t bytes = call_.range ? call_.range->bytes - received_ : static_cast<int64_t>(call_.target.size());
  hedge_ = means_->late->Add(host_->HedgeAfter(bytes), [this] {
    hedge_.reset();
    SendHedge();
  });
}

void RunningCall::StopHedge() {
  if (hedge_.has_value()) means_->late->Remove(*hedge_);
  hedge_.reset();
}

void RunningCall::SendHedge() {
  const bool small = static_cast<int64_t>(call_.target.size()) - received_ <= kMostOfHedge;
  if (ended() || !small || !host_->TakeHedge()) return;
  if (call_.find_hedge) return FindHedge();
  Request request;
  if (MakeRequest(request).ok()) StartHedge(std::move(request));
}

void RunningCall::FindHedge() {
  const Transport::Id of = attempts_.front()->id;
  call_.find_hedge(received_, [weak = weak_from_this(), transport = means_->transport, of](Request found) {
    const auto request = std::make_shared<Request>(std::move(found));
    transport->After(0, [weak, of, request] {
      const std::shared_ptr<RunningCall> self = weak.lock();
      // The first may have come meanwhile.
      if (self == nullptr || self->ended() || !self->IsAlone(of)) return;
      if (self->AddReach(*request).ok()) self->StartHedge(std::move(*request));
    });
  });
}

bool RunningCall::IsAlone(Transport::Id attempt) const {
  return attempts_.size() == 1 && attempts_.front()->id == attempt;
}

void RunningCall::StartHedge(Request request) {
  host_->EnterAnyway();
  means_->counters->Add([](StoreCounters& counters) { ++counters.hedges; });
  StartAttempt(std::move(request), true);
}

absl::Status RunningCall::TooLong(const Attempt& attempt) const {
  if (attempt.good && !call_.target.empty()) {
    return DataError(call_.name, ": the host sends more bytes than the file was said to have, which was at most ",
                     call_.target.size(), ": it was written to since it was listed, or the host is wrong");
  }
  return ResourceError(call_.name, ": the reply of the host has more than ", attempt.most,
                       " bytes, which is the most that is taken whole");
}

absl::Status RunningCall::TakeHead(Attempt& attempt, const Head& head) {
  if (!IsSuccess(head.status)) {
    attempt.most = std::min(call_.most_body, kMostOfError);
    return absl::OkStatus();
  }
  attempt.good = true;
  attempt.expected = ContentLength(head).value_or(-1);
  const bool whole = call_.range && head.status == 200;
  HEADRACE_RETURN_IF_ERROR(whole ? TakeWhole(attempt) : TakePartial(attempt, head));
  if (!attempt.wrong.empty()) return absl::OkStatus();
  HEADRACE_RETURN_IF_ERROR(CheckVersion(attempt, head));
  return call_.check ? call_.check(head) : absl::OkStatus();
}

// What was asked for, be it a part or all.
absl::Status RunningCall::TakePartial(Attempt& attempt, const Head& head) {
  if (call_.range) {
    const std::string_view value = head.Find("content-range");
    const std::optional<ContentRange> given = ParseContentRange(value);
    const int64_t first = call_.range->offset + attempt.base;
    const int64_t last = call_.range->offset + call_.range->bytes - 1;
    // Shorter only at the file's end.
    const bool right = given && given->first == first && (given->last == last || given->last == given->size - 1) &&
                       given->last >= first && given->last <= last;
    const int64_t bytes = right ? given->last - given->first + 1 : 0;
    if (!right || (attempt.expected >= 0 && attempt.expected != bytes)) {
      attempt.wrong =
          Cat("bytes ", first, "-", last, " were asked for, and it holds '", PrintableStart(value, kMostShown), "'");
      return absl::OkStatus();
    }
    attempt.expected = bytes;
  }
  if (call_.target.empty()) {
    attempt.most = call_.most_body;
  } else {
    attempt.most = static_cast<int64_t>(call_.target.size()) - attempt.base;
    attempt.into_target = !attempt.hedge;
  }
  if (!has_body()) return absl::OkStatus();
  if (attempt.expected > attempt.most) return TooLong(attempt);
  // What comes beyond the end that the head names is not of the file.
  if (attempt.into_target && attempt.expected >= 0) attempt.most = attempt.expected;
  return absl::OkStatus();
}

// The whole file, where a part was asked for.
absl::Status RunningCall::TakeWhole(Attempt& attempt) {
  if (!call_.whole_is_good) {
    attempt.wrong = "a part of the file was asked for, and it holds all";
    return absl::OkStatus();
  }
  received_ = attempt.base = 0;
  attempt.most = call_.most_body;
  const bool fits = attempt.expected >= 0 && attempt.expected <= static_cast<int64_t>(call_.target.size());
  if (call_.range->offset == 0 && fits) {
    attempt.most = attempt.expected;
    attempt.into_target = !attempt.hedge;
  }
  if (attempt.expected <= attempt.most) return absl::OkStatus();
  return ResourceError(call_.name, ": its host gives no parts of files, and the whole has ", attempt.expected,
                       " bytes, more than the ", attempt.most, " that are taken at once; copy it to a folder first");
}

absl::Status RunningCall::CheckVersion(const Attempt& attempt, const Head& head) {
  const bool other = attempt.base > 0 && !etag_.empty() && head.Find("etag") != etag_;
  return other ? ChangedError() : absl::OkStatus();
}

absl::Status RunningCall::ChangedError() const {
  return DataError(call_.name, " changed while it was read; write files under another name, and list them again");
}

void RunningCall::Remove(const Attempt& attempt) {
  std::erase_if(attempts_, [&](const std::shared_ptr<Attempt>& each) { return each.get() == &attempt; });
}

void RunningCall::Ended(Attempt& attempt, Outcome outcome) {
  const std::shared_ptr<RunningCall> self = shared_from_this();
  attempt.head = std::move(outcome.head);
  StopHedge();
  host_->Leave(Now());
  Count(outcome);
  Remove(attempt);
  if (finished_) {
    // Another attempt was faster.
  } else if (IsLostHedge(attempt, outcome)) {
    TakeLostHedge(attempt, outcome);
  } else if (!attempt.error.ok()) {
    Finish(std::move(attempt.error));
  } else if (cancelled_) {
    if (attempts_.empty()) Finish(StopSignal::Error());
  } else if (!attempt.wrong.empty()) {
    Fail(Failure::kWrong, attempt.wrong, 0);
  } else if (outcome.fault == Fault::kNone || (attempt.good && outcome.received == attempt.expected)) {
    TakeReply(attempt, outcome);
  } else {
    TakeFault(attempt, outcome);
  }
  ServeQueue();
}

void RunningCall::Count(const Outcome& outcome) {
  means_->counters->Add([&](StoreCounters& counters) {
    counters.received += outcome.received;
    counters.sent += outcome.sent;
    counters.connections += outcome.connected ? 1 : 0;
    counters.waiting_ns += outcome.first_byte_ns > 0 ? outcome.first_byte_ns : outcome.total_ns;
    counters.transfer_ns += outcome.first_byte_ns > 0 ? outcome.total_ns - outcome.first_byte_ns : 0;
  });
}

// Whether it brought the bytes that it was sent for.
bool RunningCall::IsComplete(const Attempt& attempt, const Outcome& outcome) const {
  if (!attempt.good || !attempt.error.ok() || !attempt.wrong.empty()) return false;
  // What is shorter elsewhere is a copy that lacks the end.
  if (call_.find_hedge && attempt.base + outcome.received < static_cast<int64_t>(call_.target.size())) return false;
  return attempt.expected < 0 ? outcome.fault == Fault::kNone : outcome.received == attempt.expected;
}

// A hedge that brought nothing decides nothing while the first attempt may still come. What another place says never
// does: errors would blame the first place for it.
bool RunningCall::IsLostHedge(const Attempt& attempt, const Outcome& outcome) const {
  if (!attempt.hedge || cancelled_ || IsComplete(attempt, outcome)) return false;
  const bool transport_ends = outcome.fault == Fault::kCancelled && attempt.error.ok() && attempt.wrong.empty();
  return !transport_ends && (call_.find_hedge || !attempts_.empty());
}

void RunningCall::TakeLostHedge(const Attempt& attempt, const Outcome& outcome) {
  if (outcome.fault == Fault::kNone && !attempt.good) CountVerdict(attempt);
  if (!attempts_.empty()) return;
  const Failed first = std::exchange(first_failed_, {});
  Fail(first.failure, first.what, first.least_wait_ns);
}

Verdict RunningCall::CountVerdict(const Attempt& attempt) {
  const Verdict verdict = call_.judge ? call_.judge(attempt.head, attempt.body) : UsualVerdict(attempt.head);
  const bool throttled = verdict == Verdict::kThrottled;
  host_->CountReply(throttled, Now());
  if (throttled) means_->counters->Add([](StoreCounters& counters) { ++counters.throttled; });
  return verdict;
}

void RunningCall::TakeReply(Attempt& attempt, const Outcome& outcome) {
  if (attempt.good && has_body() && attempt.expected >= 0 && outcome.received != attempt.expected) {
    TakeProgress(attempt, outcome.received);
    return Fail(Failure::kBroken, "the reply ended before its end", 0);
  }
  const Verdict verdict = CountVerdict(attempt);
  const std::string what = Cat("the host answers with status ", attempt.head.status);
  switch (verdict) {
    case Verdict::kRetry:
      return Fail(Failure::kServer, what, AskedWait(attempt.head));
    case Verdict::kThrottled:
      return Fail(Failure::kThrottled, Cat(what, ", which asks to slow down"), AskedWait(attempt.head));
    case Verdict::kRetryAtOnce:
      if (!repeated_at_once_ && call_.may_repeat) return RepeatAtOnce();
      break;
    case Verdict::kResult:
      break;
  }
  // A whole that another attempt began to take instead of the rest has written over what comes before.
  if (attempt.good && attempt.base > received_) return Fail(Failure::kBroken, "the reply came too late", 0);
  host_->CountGood(Now());
  if (attempt.good && has_body()) host_->CountTime(outcome.received, outcome.total_ns, Now());
  if (attempt.head.status == 412 && received_ > 0 && !has_own_guard()) return Finish(ChangedError());
  FinishReply(attempt, outcome);
}

void RunningCall::TakeFault(Attempt& attempt, const Outcome& outcome) {
  switch (outcome.fault) {
    case Fault::kTls:
      return Finish(BeyondRow(
          ResourceError(call_.name,
                        ": no secure connection to its host; where its certificate is of an authority of your own, say "
                        "ca_file= in storage=: ",
                        outcome.reason)));
    case Fault::kTooLong:
      return Finish(TooLong(attempt));
    case Fault::kNotSent:
      return Finish(BeyondRow(GraphError(
          call_.name,
          ": cannot be asked for; correct its address, and proxy= and the keys of storage=: ", outcome.reason)));
    case Fault::kCancelled:
      // By the transport, which ends.
      return Finish(StopSignal::Error());
    default:
      TakeProgress(attempt, outcome.received);
      return Fail(FailureOf(outcome.fault), outcome.reason, 0);
  }
}

void RunningCall::TakeProgress(const Attempt& attempt, int64_t received) {
  const bool goes_on = attempt.base <= received_ && attempt.base + received > received_;
  if (!attempt.into_target || !MayResume(attempt) || !goes_on) return;
  if (attempt.base + received - received_ >= kProgress) failures_ = 0;
  received_ = attempt.base + received;
  etag_ = attempt.head.Find("etag");
}

void RunningCall::Fail(Failure failure, std::string_view what, int64_t least_wait_ns) {
  if (!attempts_.empty()) {
    // The other attempt may still come.
    first_failed_ = {failure, std::string(what), least_wait_ns};
    return;
  }
  const int64_t now = Now();
  if (++failures_ == 1) failed_ns_ = now;
  const bool repeatable = call_.may_repeat || failure == Failure::kUnreached;
  const FailedCall failed{.failures = failures_,
                          .since_ns = now - failed_ns_,
                          .host_known = host_->last_good_ns() >= 0,
                          .host_lost = host_->last_good_ns() < failed_ns_,
                          .most_attempts = call_.most_attempts,
                          .congested = host_->Congested(now)};
  if (!repeatable || GivesUp(failure, failed)) return Finish(GivenUpError(failure, what));
  const int64_t wait = std::max(least_wait_ns, RetryWait(failure, failed, means_->drawn()));
  if (wait >= deadline_ns()) return Finish(GivenUpError(failure, what));
  paused_ns_ = now;
  Later(wait, &RunningCall::TakeRepetition);
}

void RunningCall::TakeRepetition() {
  if (ended()) return;
  if (!host_->TakeRepetition(Now())) {
    // Jittered, so that not all ask at once.
    const auto wait = static_cast<int64_t>(kTokenWait * (0.5 + means_->drawn()));
    return Later(wait, &RunningCall::TakeRepetition);
  }
  means_->counters->Add([](StoreCounters& counters) { ++counters.retries; });
  WaitForPlace();
}

void RunningCall::RepeatAtOnce() {
  if (!attempts_.empty()) return;
  repeated_at_once_ = true;
  means_->counters->Add([](StoreCounters& counters) { ++counters.retries; });
  paused_ns_ = Now();
  WaitForPlace();
}

absl::Status RunningCall::GivenUpError(Failure failure, std::string_view what) const {
  const std::string tried = Cat(" (", made_, made_ == 1 ? " attempt, " : " attempts, ", TimeText(Now() - began_ns_),
                                ", of which ", TimeText(waited_ns_), " waited)");
  switch (failure) {
    case Failure::kWrong:
      return DataError(call_.name, ": the reply of its host is not what was asked for: ", what, tried);
    case Failure::kUnreached:
      return BeyondRow(ResourceError(
          call_.name, ": its host cannot be reached; check its address",
          means_->reach.proxy.empty() ? " and the network: " : ", proxy= of storage= and the network: ", what, tried));
    default:
      return BeyondRow(ResourceError(call_.name, ": its host did not give it; try again later: ", what, tried));
  }
}

void RunningCall::FinishReply(Attempt& attempt, const Outcome& outcome) {
  // What did not go straight there: of a hedge, or of a length that was not known.
  const bool from_begin = !call_.range || attempt.head.status == 206 || call_.range->offset == 0;
  const absl::Span<uint8_t> rest = TargetFrom(attempt.base);
  if (attempt.good && !attempt.into_target && from_begin && !rest.empty() && attempt.body.size() <= rest.size()) {
    std::memcpy(rest.data(), attempt.body.data(), attempt.body.size());
    attempt.body.clear();
  }
  Reply reply;
  reply.head = std::move(attempt.head);
  reply.body = std::move(attempt.body);
  reply.received = attempt.base + outcome.received;
  reply.attempts = made_;
  Finish(std::move(reply));
}

void RunningCall::Finish(absl::StatusOr<Reply> result) {
  finished_ = true;
  // Attempts that were cancelled may hold this for a while.
  const HttpClient::Done done = std::exchange(done_, nullptr);
  for (const std::shared_ptr<Attempt>& left : attempts_) means_->transport->Cancel(left->id);
  done(std::move(result));
}

}  // namespace headrace::http
