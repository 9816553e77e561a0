#include "io/files/s3/kept_credentials.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

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

struct KeptCredentials::Shared {
  Shared(Find given, std::function<int64_t()> clock) : find(std::move(given)), now(std::move(clock)) {}

  // With the lock held.
  bool AreGood() const { return kept.has_value() && (kept->expires_s == 0 || now() < kept->expires_s); }
  bool AreOld() const { return kept->expires_s != 0 && now() >= kept->expires_s - kEarly && now() >= next_search_s; }

  const Find find;  // null: they are lasting
  const std::function<int64_t()> now;
  std::mutex mutex;
  std::optional<Credentials> kept;
  std::vector<Done> waiting;
  bool searches = false;
  int64_t next_search_s = 0;  // after one that failed while the kept ones are good
  std::thread thread;
};

KeptCredentials::KeptCredentials(Find find, std::function<int64_t()> now)
    : shared_(std::make_shared<Shared>(std::move(find), std::move(now))) {}

KeptCredentials::KeptCredentials(Credentials lasting) : shared_(std::make_shared<Shared>(nullptr, nullptr)) {
  shared_->kept = std::move(lasting);
}

KeptCredentials::~KeptCredentials() {
  std::thread& thread = shared_->thread;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else if (thread.joinable()) {
    thread.join();
  }
}

absl::Status KeptCredentials::StartSearch(const std::shared_ptr<Shared>& shared) {
  shared->searches = true;
  // The one before has ended but for its last instructions.
  if (shared->thread.joinable()) shared->thread.join();
  try {
    WatchForks();
    shared->thread = std::thread([shared] { Search(shared); });
  } catch (const std::system_error&) {
    shared->searches = false;
    return ResourceError("no thread for the credentials of S3: the machine's limit of threads is reached");
  }
  return absl::OkStatus();
}

void KeptCredentials::Get(Done done) {
  absl::StatusOr<Credentials> given;
  {
    const std::lock_guard lock(shared_->mutex);
    const bool good = shared_->AreGood();
    absl::Status started;
    if (!shared_->searches && (!good || shared_->AreOld())) {
      started = shared_->find ? StartSearch(shared_) : InternalError("lasting credentials were taken away");
    }
    if (!good && started.ok()) {
      shared_->waiting.push_back(std::move(done));
      return;
    }
    if (good) {
      given = *shared_->kept;
    } else {
      given = started;
    }
  }
  done(given);
}

void KeptCredentials::Search(const std::shared_ptr<Shared>& shared) {
  while (true) {
    const absl::StatusOr<Credentials> found = shared->find();
    std::vector<Done> waiting;
    {
      const std::lock_guard lock(shared->mutex);
      if (found.ok()) shared->kept = *found;
      shared->next_search_s = found.ok() ? 0 : shared->now() + kPause;
      waiting.swap(shared->waiting);
    }
    for (const Done& done : waiting) done(found);
    // They may hold the last of what waited.
    waiting.clear();
    // Who asked meanwhile had refused what was found, and has begun to wait.
    const std::lock_guard lock(shared->mutex);
    shared->searches = !shared->waiting.empty();
    if (!shared->searches) return;
  }
}

void KeptCredentials::Refuse(const Credentials& refused) {
  const std::lock_guard lock(shared_->mutex);
  std::optional<Credentials>& kept = shared_->kept;
  if (!shared_->find || !kept.has_value()) return;
  if (kept->access_key == refused.access_key && kept->token == refused.token) kept.reset();
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
