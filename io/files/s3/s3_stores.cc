#include "io/files/s3/s3_stores.h"

#include <cstddef>

#include "core/error.h"

namespace headrace::s3 {
namespace {

constexpr size_t kMostStores = 64;

// What a store takes from the environment, or finds its credentials by.
constexpr const char* kVariables[] = {"HOME",
                                      "AWS_ENDPOINT_URL_S3",
                                      "AWS_ENDPOINT_URL",
                                      "AWS_ENDPOINT_URL_STS",
                                      "AWS_REGION",
                                      "AWS_DEFAULT_REGION",
                                      "AWS_PROFILE",
                                      "AWS_DEFAULT_PROFILE",
                                      "AWS_CONFIG_FILE",
                                      "AWS_SHARED_CREDENTIALS_FILE",
                                      "AWS_ACCESS_KEY_ID",
                                      "AWS_SECRET_ACCESS_KEY",
                                      "AWS_SESSION_TOKEN",
                                      "AWS_ROLE_ARN",
                                      "AWS_ROLE_SESSION_NAME",
                                      "AWS_WEB_IDENTITY_TOKEN_FILE",
                                      "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                      "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                                      "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                                      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
                                      "AWS_EC2_METADATA_DISABLED",
                                      "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                                      "AWS_CA_BUNDLE",
                                      "SSL_CERT_FILE",
                                      "CURL_CA_BUNDLE"};

std::string TextOfEnvironment(const Environment& environment) {
  std::string text;
  for (const char* name : kVariables) Append(text, environment(name), "\n");
  return text;
}

}  // namespace

absl::StatusOr<std::shared_ptr<S3Store>> S3Stores::Now() const {
  const std::string environment = TextOfEnvironment(options_.environment);
  const std::lock_guard lock(mutex_);
  const auto found = by_environment_.find(environment);
  if (found != by_environment_.end()) {
    last_ = found->second;
    return last_;
  }
  HEADRACE_ASSIGN_OR_RETURN(last_, S3Store::Make(options_));
  if (by_environment_.size() >= kMostStores) {
    for (const auto& [text, store] : by_environment_) AddTo(past_, store->counters());
    by_environment_.clear();
  }
  by_environment_.emplace(environment, last_);
  return last_;
}

absl::StatusOr<std::shared_ptr<S3Store>> S3Stores::Last() const {
  {
    const std::lock_guard lock(mutex_);
    if (last_ != nullptr) return last_;
  }
  return Now();
}

StoreCounters S3Stores::counters() const {
  const std::lock_guard lock(mutex_);
  StoreCounters sum = past_;
  for (const auto& [text, store] : by_environment_) AddTo(sum, store->counters());
  return sum;
}

bool S3Stores::are_aws() const {
  const std::lock_guard lock(mutex_);
  return last_ != nullptr && last_->is_aws();
}

}  // namespace headrace::s3
