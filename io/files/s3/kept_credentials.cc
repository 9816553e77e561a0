#include "io/files/s3/kept_credentials.h"

#include <map>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/fork_watch.h"

namespace headrace::s3 {
namespace {

// After a search that failed.
constexpr int64_t kPause = 30;

// What tells places apart: where credentials are looked for, and not what they are.
std::string KeyOf(const CredentialPlace& place) {
  std::string key = Cat(place.profile, "\n", place.region, "\n", place.ca_file, "\n", place.proxy);
  for (const char* name :
       {"HOME", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_ROLE_ARN",
        "AWS_ROLE_SESSION_NAME", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_EC2_METADATA_DISABLED",
        "AWS_EC2_METADATA_SERVICE_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS"}) {
    Append(key, "\n", place.environment(name));
  }
  return key;
}

}  // namespace

KeptCredentials::KeptCredentials(Credentials lasting) : kept_(std::move(lasting)) {}

KeptCredentials::~KeptCredentials() {
  if (thread_.joinable()) thread_.join();
}

bool KeptCredentials::AreGood() const {
  return kept_.has_value() && (kept_->expires_s == 0 || now_() < kept_->expires_s);
}

bool KeptCredentials::AreOld() const {
  return kept_->expires_s != 0 && now_() >= kept_->expires_s - kEarly && now_() >= next_search_s_;
}

absl::Status KeptCredentials::StartSearch() {
  searches_ = true;
  // The one before has ended but for its last instructions.
  if (thread_.joinable()) thread_.join();
  try {
    WatchForks();
    thread_ = std::thread([this] { Search(); });
  } catch (const std::system_error&) {
    searches_ = false;
    return ResourceError("no thread for the credentials of S3: the machine's limit of threads is reached");
  }
  return absl::OkStatus();
}

void KeptCredentials::Get(Done done) {
  absl::StatusOr<Credentials> given = absl::UnknownError("");
  {
    const std::lock_guard lock(mutex_);
    const bool good = AreGood();
    absl::Status started;
    if (!searches_ && (!good || AreOld())) {
      started = find_ ? StartSearch() : InternalError("lasting credentials were taken away");
    }
    if (!good && started.ok()) {
      waiting_.push_back(std::move(done));
      return;
    }
    if (good) {
      given = *kept_;
    } else {
      given = started;
    }
  }
  done(given);
}

void KeptCredentials::Search() {
  while (true) {
    const absl::StatusOr<Credentials> found = find_();
    std::vector<Done> waiting;
    {
      const std::lock_guard lock(mutex_);
      if (found.ok()) kept_ = *found;
      next_search_s_ = found.ok() ? 0 : now_() + kPause;
      waiting.swap(waiting_);
    }
    for (const Done& done : waiting) done(found);
    // Who asked meanwhile had refused what was found, and has begun to wait.
    const std::lock_guard lock(mutex_);
    searches_ = !waiting_.empty();
    if (!searches_) return;
  }
}

void KeptCredentials::Refuse(const Credentials& refused) {
  const std::lock_guard lock(mutex_);
  if (!find_ || !kept_.has_value()) return;
  if (kept_->access_key == refused.access_key && kept_->token == refused.token) kept_.reset();
}

std::shared_ptr<KeptCredentials> SharedCredentials(const CredentialPlace& place) {
  static std::mutex& mutex = *new std::mutex();
  static auto& shared = *new std::map<std::string, std::shared_ptr<KeptCredentials>, std::less<>>();
  const std::lock_guard lock(mutex);
  std::shared_ptr<KeptCredentials>& kept = shared[KeyOf(place)];
  if (kept == nullptr) {
    kept = std::make_shared<KeptCredentials>([place] { return FindCredentials(place); }, place.now);
  }
  return kept;
}

}  // namespace headrace::s3
