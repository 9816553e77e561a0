#include "io/files/hdfs/hdfs_login.h"

#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/block_signals.h"
#include "core/error.h"
#include "core/fork_watch.h"
#include "core/tensor.h"
#include "io/files/file_system.h"
#include "io/files/hdfs/hdfs_url.h"
#include "io/files/hdfs/remote_exception.h"
#include "io/files/hdfs/token_file.h"
#include "io/files/http/percent_text.h"

namespace headrace::hdfs {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// A token lasts a day unless it is renewed, and at most a week.
constexpr int64_t kTokenNs = 12 * 3600 * kSecondNs;
// The cookie of a login lasts ten hours.
constexpr int64_t kCookieNs = 4 * 3600 * kSecondNs;
// Until a login that failed before its time is tried again.
constexpr int64_t kPauseNs = 600 * kSecondNs;
constexpr int64_t kMostTokenFileBytes = int64_t{16} << 20;
constexpr int64_t kMostLoginBytes = int64_t{1} << 20;

std::string TokenQuery(std::string_view token) { return Cat("&delegation=", http::PercentEncoded(token)); }

// "namenode" of "https://namenode:9871".
std::string_view HostOfAddress(std::string_view address) { return HostOf(address.substr(address.find("://") + 3)); }

// "hadoop.auth=…" of what a reply sets; "": it sets no cookie.
std::string LoginCookie(const http::Head& head) {
  for (const http::Header& header : head.headers) {
    if (header.name != "set-cookie" || !header.value.starts_with("hadoop.auth=")) continue;
    std::string cookie = header.value.substr(0, header.value.find(';'));
    if (cookie != "hadoop.auth=" && cookie != "hadoop.auth=\"\"") return cookie;
  }
  return "";
}

// Of {"Token": {"urlString": "…"}}; "": the server gives no tokens.
std::string TokenOfReply(std::string_view body) {
  const nlohmann::json parsed = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return "";
  const auto token = parsed.find("Token");
  if (token == parsed.end() || !token->is_object()) return "";
  const auto text = token->find("urlString");
  return text != token->end() && text->is_string() ? text->get<std::string>() : "";
}

}  // namespace

HdfsLogin::HdfsLogin(LoginSettings settings, http::HttpClient* client, NameNodes* name_nodes)
    : settings_(std::move(settings)), client_(client), name_nodes_(name_nodes) {}

HdfsLogin::~HdfsLogin() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<Pass> HdfsLogin::PassOfFile() const {
  const std::string& file = settings_.token_file;
  HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, LocalFileSystem()->Stat(file));
  if (stat.size > kMostTokenFileBytes) return DataError(file, ": it is longer than a file of Hadoop's credentials");
  HEADRACE_ASSIGN_OR_RETURN(const Tensor bytes, LocalFileSystem()->Read(file));
  const auto named = [&](const absl::Status& error) {
    return Reworded(error, Cat(file, ": ", ToStd(error.message())));
  };
  const absl::StatusOr<std::vector<DelegationToken>> tokens = ParseTokenFile(bytes.bytes_value());
  if (!tokens.ok()) return named(tokens.status());
  const absl::StatusOr<DelegationToken> token = FindToken(*tokens, settings_.authority);
  if (!token.ok()) return named(token.status());
  return Pass{.query = TokenQuery(TokenText(*token))};
}

absl::StatusOr<Pass> HdfsLogin::FirstPass() const {
  if (!settings_.token.empty()) return Pass{.query = TokenQuery(settings_.token)};
  if (!settings_.token_file.empty() && settings_.user.empty() && !settings_.anonymous) return PassOfFile();
  const std::string& user = settings_.user.empty() ? settings_.usual_user : settings_.user;
  return user.empty() ? Pass{} : Pass{.query = Cat("&user.name=", http::PercentEncoded(user))};
}

absl::StatusOr<std::shared_ptr<const Pass>> HdfsLogin::Current() {
  std::shared_ptr<const Pass> old;
  {
    const std::lock_guard lock(mutex_);
    if (current_ == nullptr) {
      HEADRACE_ASSIGN_OR_RETURN(Pass first, FirstPass());
      current_ = std::make_shared<const Pass>(std::move(first));
    }
    const bool due = current_->renew_ns != 0 && client_->transport().Now() >= current_->renew_ns;
    if (!due || std::exchange(renews_by_age_, true)) return current_;
    old = current_;
  }
  StartRenew(old, [this, old](const absl::Status& renewed) {
    const std::lock_guard lock(mutex_);
    renews_by_age_ = false;
    if (renewed.ok() || current_ != old) return;
    // The old one is still good for a while.
    Pass later = *old;
    later.renew_ns = client_->transport().Now() + kPauseNs;
    current_ = std::make_shared<const Pass>(std::move(later));
  });
  return old;
}

absl::StatusOr<http::Reply> HdfsLogin::AskForToken(const std::string& address) {
  HEADRACE_ASSIGN_OR_RETURN(const std::string token, settings_.negotiate(HostOfAddress(address)));
  http::Call call;
  call.name = Cat("the login at ", address);
  call.purpose = http::Purpose::kList;
  call.request.url = Cat(address, "/webhdfs/v1/?op=GETDELEGATIONTOKEN");
  call.request.headers = {{"Authorization", Cat("Negotiate ", token)}};
  call.most_body = kMostLoginBytes;
  // The token of Kerberos is good for one request.
  call.most_attempts = 1;
  call.judge = [](const http::Head&, std::string_view) { return http::Verdict::kResult; };
  return client_->Run(std::move(call));
}

absl::StatusOr<Pass> HdfsLogin::PassOfReply(const http::Reply& reply) const {
  const int64_t now = client_->transport().Now();
  const std::string token = reply.head.status == 200 ? TokenOfReply(reply.body) : "";
  if (!token.empty()) return Pass{.query = TokenQuery(token), .renew_ns = now + kTokenNs};
  std::string cookie = LoginCookie(reply.head);
  if (reply.head.status != 401 && !cookie.empty()) {
    return Pass{.cookie = std::move(cookie), .renew_ns = now + kCookieNs};
  }
  return RemoteError("the login by Kerberos", reply.head.status, ParseRemoteException(reply.body));
}

absl::StatusOr<Pass> HdfsLogin::PassOfKerberos() {
  absl::Status last;
  // Each NameNode is asked twice: one that stood by may be active by then.
  for (size_t tries = 0; tries < 2 * name_nodes_->size(); ++tries) {
    const std::string address = name_nodes_->current();
    const absl::StatusOr<http::Reply> reply = AskForToken(address);
    if (!reply.ok()) {
      if (!IsBeyondRow(reply.status())) return reply.status();
      last = reply.status();
    } else {
      const RemoteException exception = ParseRemoteException(reply->body);
      const RemoteFault fault = FaultOf(reply->head.status, exception);
      if (fault != RemoteFault::kStandby && fault != RemoteFault::kNotYet) return PassOfReply(*reply);
      last = RemoteError("the login by Kerberos", reply->head.status, exception);
    }
    name_nodes_->MoveOnFrom(address);
  }
  return last;
}

absl::Status HdfsLogin::Renew(const std::shared_ptr<const Pass>& refused) {
  const std::lock_guard renewing(renewing_);
  {
    const std::lock_guard lock(mutex_);
    if (current_ != refused) return absl::OkStatus();
  }
  if (!settings_.token.empty()) {
    return UnsupportedError(
        "HDFS does not take the token that storage= gives: it has ended, or is of another cluster; get one that is "
        "valid");
  }
  if (settings_.anonymous) {
    return UnsupportedError("HDFS asks for a login, and storage= says anonymous; leave that out, and run kinit");
  }
  absl::StatusOr<Pass> renewed = Pass();
  if (!settings_.token_file.empty()) {
    // Whoever started this job may have written a newer one.
    renewed = PassOfFile();
    if (renewed.ok() && refused != nullptr && renewed->query == refused->query) {
      renewed = UnsupportedError(settings_.token_file,
                                 ": HDFS does not take the token of this file: it has ended, or is of another cluster; "
                                 "write one that is valid, or unset HADOOP_TOKEN_FILE_LOCATION and run kinit");
    }
  } else {
    renewed = PassOfKerberos();
  }
  HEADRACE_RETURN_IF_ERROR(renewed.status());
  const std::lock_guard lock(mutex_);
  current_ = std::make_shared<const Pass>(*std::move(renewed));
  return absl::OkStatus();
}

void HdfsLogin::StartRenew(std::shared_ptr<const Pass> refused, std::function<void(absl::Status)> done) {
  const auto renew = [this, refused = std::move(refused), done] { done(Renew(refused)); };
  if (absl::Status posted = Post(renew); !posted.ok()) done(std::move(posted));
}

absl::Status HdfsLogin::Post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) {
      WatchForks();
      try {
        thread_ = std::thread([this] { Serve(); });
      } catch (const std::system_error&) {
        return BeyondRow(ResourceError("the machine has no thread left for a login at HDFS"));
      }
    }
    work_.push_back(std::move(work));
  }
  changed_.notify_one();
  return absl::OkStatus();
}

void HdfsLogin::Serve() {
  BlockSignals();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !work_.empty(); });
    if (work_.empty()) return;
    const std::function<void()> next = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    next();
    lock.lock();
  }
}

}  // namespace headrace::hdfs
