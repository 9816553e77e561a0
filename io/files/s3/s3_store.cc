#include "io/files/s3/s3_store.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include "core/error.h"
#include "core/fork_watch.h"
#include "core/stop_signal.h"
#include "io/files/http/awaited_result.h"
#include "io/files/http/http_date.h"
#include "io/files/http/reach_for.h"
#include "io/files/s3/credential_chain.h"
#include "io/files/s3/request_signer.h"
#include "io/files/s3/store_reply.h"
#include "io/files/s3/utc_time.h"

namespace headrace::s3 {
namespace {

constexpr std::string_view kFirstRegion = "us-east-1";
constexpr size_t kMostBuckets = 1024;
constexpr int kMostFailuresInside = 5;
// An error is named at the beginning of a body; what else there is may be long.
constexpr size_t kMostBeforeError = 512;
constexpr size_t kMostRegionBytes = 64;
// What is refused with these codes may pass with other credentials.
constexpr std::string_view kStaleCodes[] = {"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired",
                                            "InvalidToken", "InvalidAccessKeyId"};
constexpr std::string_view kServerCodes[] = {"InternalError", "ServiceUnavailable", "OperationAborted"};

template <size_t count>
bool IsOneOf(std::string_view code, const std::string_view (&codes)[count]) {
  for (const std::string_view each : codes) {
    if (each == code) return true;
  }
  return false;
}

http::Verdict JudgeStatus(int status) {
  switch (status) {
    case 408:
    case 500:
    case 502:
    case 504:
      return http::Verdict::kRetry;
    case 429:
    case 503:
      return http::Verdict::kThrottled;
    default:
      return http::Verdict::kResult;
  }
}

// Without the white space that a store sends while it works, before the XML declaration or after it.
std::string_view RootOf(std::string_view body) {
  constexpr std::string_view kSpace = " \t\r\n";
  body.remove_prefix(std::min(body.find_first_not_of(kSpace), body.size()));
  if (!body.starts_with("<?")) return body;
  body.remove_prefix(std::min(body.find('>'), body.size() - 1) + 1);
  body.remove_prefix(std::min(body.find_first_not_of(kSpace), body.size()));
  return body;
}

// `failures`: replies of success with an error in them, which are results when there are many.
http::Verdict JudgeReply(const http::Head& head, std::string_view body, bool error_in_body, int& failures) {
  const http::Verdict usual = JudgeStatus(head.status);
  if (usual != http::Verdict::kResult) return usual;
  if (head.status == 400 && CodeOf(body) == "RequestTimeout") return http::Verdict::kRetry;
  if (head.status != 200 || !error_in_body) return usual;
  if (RootOf(body).substr(0, kMostBeforeError).find("<Error") == std::string_view::npos) return usual;
  const std::string code = CodeOf(body);
  if (code.empty() || ++failures == kMostFailuresInside) return usual;
  if (code == "SlowDown") return http::Verdict::kThrottled;
  return IsOneOf(code, kServerCodes) ? http::Verdict::kRetry : usual;
}

std::string ProfileSetting(const Profiles& profiles, const std::string& profile, std::string_view name) {
  const auto found = profiles.find(profile);
  if (found == profiles.end()) return {};
  const auto setting = found->second.find(name);
  return setting == found->second.end() ? std::string() : setting->second;
}

std::string FirstGiven(std::initializer_list<std::string> choices) {
  for (const std::string& choice : choices) {
    if (!choice.empty()) return choice;
  }
  return {};
}

bool IsRegion(std::string_view region) {
  return !region.empty() && region.size() <= kMostRegionBytes &&
         region.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_ABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
             std::string_view::npos;
}

bool IsSame(const Credentials& a, const Credentials& b) {
  return a.access_key == b.access_key && a.secret_key == b.secret_key && a.token == b.token;
}

// Keys that are missing are no missing object.
absl::Status NoKeysError(std::string_view name, const absl::Status& error) {
  const std::string text = Cat(name, ": ", ToStd(error.message()));
  return KindOf(error) == ErrorKind::kNotFound ? UnsupportedError(text) : Reworded(error, text);
}

}  // namespace

// Where a request is: it may be cancelled without the client before it is sent.
enum class Stage { kWaiting, kSent, kEnded };

struct S3Store::Going {
  // Goes on from waiting; false: another thread was first.
  bool Take(Stage next) {
    Stage waiting = Stage::kWaiting;
    return stage.compare_exchange_strong(waiting, next);
  }

  S3Request request;
  Done done;
  Credentials used;
  std::string payload;  // what the signature says of the body
  std::atomic<Stage> stage{Stage::kWaiting};
  bool renewed = false;
  bool moved = false;
  bool denied = false;
  bool skewed = false;
};

absl::StatusOr<std::shared_ptr<S3Store>> S3Store::Make(const StoreOptions& options) {
  const StorageSettings& settings = options.settings;
  const Environment& environment = options.environment;
  const std::string profile = ProfileName(settings.profile, environment);
  // A damaged file of profiles is an error where its credentials are wanted.
  const absl::StatusOr<Profiles> read = ReadProfiles(environment);
  const Profiles profiles = read.ok() ? *read : Profiles();
  HEADRACE_ASSIGN_OR_RETURN(S3Endpoint endpoint,
                            S3Endpoint::Make(FirstGiven({settings.endpoint, environment("AWS_ENDPOINT_URL_S3"),
                                                         environment("AWS_ENDPOINT_URL"),
                                                         ProfileSetting(profiles, profile, "endpoint_url")})));
  const std::string region = FirstGiven({settings.region, settings.profile.empty() ? environment("AWS_REGION") : "",
                                         settings.profile.empty() ? environment("AWS_DEFAULT_REGION") : "",
                                         ProfileSetting(profiles, profile, "region"), environment("AWS_REGION"),
                                         environment("AWS_DEFAULT_REGION")});
  if (!region.empty() && !IsRegion(region)) {
    return GraphError("the region of S3 has letters, digits and '-'; correct region or AWS_REGION");
  }
  http::Transport* transport = options.transport;
  if (transport == nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(transport, http::LoadedTransport());
  }
  HEADRACE_ASSIGN_OR_RETURN(http::Reach reach, http::ReachFor(settings, endpoint.is_secure()));
  const std::function<int64_t()> now = options.now ? options.now : NowSeconds;
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<Credentials> at_hand, CredentialsAtHand(settings, environment));
  std::shared_ptr<KeptCredentials> credentials = options.credentials;
  if (at_hand.has_value()) {
    credentials = std::make_shared<KeptCredentials>(*at_hand);
  } else if (credentials == nullptr) {
    credentials = SharedCredentials({.profile = settings.profile,
                                     .region = region,
                                     .ca_file = reach.ca_file,
                                     .proxy = settings.proxy,
                                     .environment = environment,
                                     .transport = transport,
                                     .now = now});
  }
  StoreOptions made = options;
  made.now = now;
  return std::shared_ptr<S3Store>(new S3Store(made, transport, std::move(reach), std::move(endpoint),
                                              region.empty() ? std::string(kFirstRegion) : region,
                                              std::move(credentials)));
}

S3Store::S3Store(const StoreOptions& options, http::Transport* transport, http::Reach reach, S3Endpoint endpoint,
                 std::string region, std::shared_ptr<KeptCredentials> credentials)
    : now_(options.now),
      endpoint_(std::move(endpoint)),
      region_(std::move(region)),
      credentials_(std::move(credentials)),
      client_(transport, std::move(reach)) {}

void S3Store::Note(const Credentials& credentials) {
  const std::lock_guard lock(mutex_);
  access_key_ = credentials.access_key;
  token_ = credentials.token;
}

absl::Status S3Store::Refused(std::string_view name, std::string_view wanted, const http::Reply& reply) const {
  std::string access_key;
  std::string token;
  {
    const std::lock_guard lock(mutex_);
    access_key = access_key_;
    token = token_;
  }
  return RefusedError(name, wanted, reply, {access_key, token});
}

std::string S3Store::RegionOf(const std::string& bucket) const {
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(bucket);
  return found == regions_.end() ? region_ : found->second;
}

bool S3Store::LearnRegion(const std::string& bucket, const std::string& region) {
  if (!IsRegion(region) || RegionOf(bucket) == region) return false;
  const std::lock_guard lock(mutex_);
  if (regions_.size() >= kMostBuckets) regions_.clear();
  regions_[bucket] = region;
  return true;
}

bool S3Store::LearnClock(const http::Head& head) {
  const std::optional<int64_t> date = http::ParseHttpDate(head.Find("date"));
  if (!date.has_value()) return false;
  skew_s_.store(*date - now_(), std::memory_order_relaxed);
  return true;
}

http::Call S3Store::CallOf(const std::shared_ptr<Going>& going) {
  S3Request& request = going->request;
  const std::string region = RegionOf(request.at.bucket);
  http::Call call;
  call.name = request.name;
  call.purpose = request.purpose;
  call.request.method = request.method;
  call.request.url = endpoint_.Url(region, request.at.bucket, request.at.key);
  if (!request.query.empty()) Append(call.request.url, "?", QueryText(request.query));
  call.request.headers = request.headers;
  if (request.body != nullptr) call.request.body = {*request.body};
  call.request.deadline_ms = request.deadline_ms;
  call.target = request.target;
  call.make_target = request.make_target;
  call.range = request.range;
  call.check = request.check;
  call.may_hedge = request.may_hedge;
  call.most_body = request.most_body;
  // Keeps the body for as long as the call is under way.
  call.prepare = [self = shared_from_this(), going, region](http::Request& attempt, int64_t /*received*/) {
    if (going->used.anonymous) return absl::OkStatus();
    const int64_t now = self->now_() + self->skew_s_.load(std::memory_order_relaxed);
    SignRequest(self->client_.transport(), going->payload, {region, "s3", SigningTime(now)}, going->used, attempt,
                &self->signing_key_);
    return absl::OkStatus();
  };
  call.judge = [in_body = request.error_in_body, failures = 0](const http::Head& head, std::string_view body) mutable {
    return JudgeReply(head, body, in_body, failures);
  };
  return call;
}

S3Store::Next S3Store::NextOf(Going& going, const http::Reply& reply) {
  const int status = reply.head.status;
  if (status < 300 || status == 404 || status == 412 || status == 416) return Next::kResult;
  const Problem problem = ProblemOf(reply.head, reply.body);
  const bool elsewhere = status == 301 || status == 307 || status == 400;
  if (elsewhere && !going.moved && LearnRegion(going.request.at.bucket, problem.region)) {
    going.moved = true;
    return Next::kAgain;
  }
  if (problem.code == "RequestTimeTooSkewed" && !going.skewed && LearnClock(reply.head)) {
    going.skewed = true;
    return Next::kAgain;
  }
  if (IsOneOf(problem.code, kStaleCodes) && !going.renewed) {
    going.renewed = true;
    return Next::kRenew;
  }
  if (status == 403 && going.request.is_known && !going.denied) {
    going.denied = true;
    return Next::kAgain;
  }
  return Next::kResult;
}

void S3Store::Start(S3Request request, Done done) {
  // Whoever looks for credentials is not in the child, which would wait for it.
  if (LostInFork()) return done(http::LoadedTransport().status());
  const auto going = std::make_shared<Going>();
  going->request = std::move(request);
  going->done = std::move(done);
  going->payload = PayloadOf(going->request);
  if (going->request.cancellation != nullptr) {
    // Weakly: a cancellation may live long after the request.
    going->request.cancellation->Add([weak = std::weak_ptr<Going>(going)] {
      const std::shared_ptr<Going> waits = weak.lock();
      if (waits == nullptr) return;
      // Before it is taken: without memory for it the request goes on.
      absl::Status error = StopSignal::Error();
      if (waits->Take(Stage::kEnded)) waits->done(std::move(error));
    });
  }
  credentials_->Get(
      [self = shared_from_this(), going](const absl::StatusOr<Credentials>& found) { self->Begin(going, found); });
}

void S3Store::Begin(const std::shared_ptr<Going>& going, const absl::StatusOr<Credentials>& credentials) {
  if (!going->Take(credentials.ok() ? Stage::kSent : Stage::kEnded)) return;
  if (!credentials.ok()) return going->done(NoKeysError(going->request.name, credentials.status()));
  Note(*credentials);
  going->used = *credentials;
  Send(going);
}

void S3Store::Send(const std::shared_ptr<Going>& going) {
  const http::HttpClient::Id id =
      client_.Start(CallOf(going), [self = shared_from_this(), going](absl::StatusOr<http::Reply> reply) {
        const Next next = reply.ok() ? self->NextOf(*going, *reply) : Next::kResult;
        if (next == Next::kResult) return going->done(std::move(reply));
        if (next == Next::kAgain) return self->Send(going);
        self->Renew(going, *std::move(reply));
      });
  const std::shared_ptr<Cancellation>& cancellation = going->request.cancellation;
  if (cancellation != nullptr && id != 0) {
    cancellation->Add([self = shared_from_this(), id] { self->client_.Cancel(id); });
  }
}

// With other credentials than those that were refused; if there are none, `refused` is the result.
void S3Store::Renew(const std::shared_ptr<Going>& going, http::Reply refused) {
  credentials_->Refuse(going->used);
  credentials_->Get([self = shared_from_this(), going,
                     refused = std::move(refused)](const absl::StatusOr<Credentials>& found) mutable {
    if (!found.ok()) return going->done(NoKeysError(going->request.name, found.status()));
    if (IsSame(*found, going->used)) return going->done(std::move(refused));
    self->Note(*found);
    going->used = *found;
    self->Send(going);
  });
}

absl::StatusOr<http::Reply> S3Store::Run(S3Request request) {
  if (request.cancellation == nullptr) request.cancellation = std::make_shared<Cancellation>();
  const std::shared_ptr<Cancellation> cancellation = request.cancellation;
  http::AwaitedResult<http::Reply> awaited;
  Start(std::move(request), [&awaited](absl::StatusOr<http::Reply> reply) { awaited.Set(std::move(reply)); });
  return awaited.Wait([&] { cancellation->Cancel(); });
}

std::string S3Store::PayloadOf(const S3Request& request) const {
  if (request.body == nullptr || request.body->empty()) return std::string(kEmptyPayload);
  // TLS protects the body already, and digesting it costs as much as sending it.
  if (endpoint_.is_secure()) return std::string(kUnsignedPayload);
  return PayloadDigest(client_.transport(), {*request.body});
}

}  // namespace headrace::s3
