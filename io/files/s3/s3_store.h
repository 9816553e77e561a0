// `S3Store` sends requests to a store of S3: it signs them, finds the bucket's region, renews credentials that have
// expired, and follows the store's clock. Replies of any status are results. Threads: any thread; `Done` may come on
// the event thread, and must not block.
#ifndef HEADRACE_IO_FILES_S3_S3_STORE_H_
#define HEADRACE_IO_FILES_S3_S3_STORE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/cancellation.h"
#include "io/files/http/http_client.h"
#include "io/files/s3/environment.h"
#include "io/files/s3/kept_credentials.h"
#include "io/files/s3/s3_endpoint.h"
#include "io/files/s3/s3_path.h"
#include "io/files/s3/signing_key.h"
#include "io/files/storage_settings.h"

namespace headrace::s3 {

struct S3Request {
  std::string name;  // what errors call it: "s3://bucket/key"
  S3Path at;
  std::string method = "GET";
  std::vector<http::Header> query;    // not encoded
  std::vector<http::Header> headers;  // x-amz-… are signed
  std::shared_ptr<const std::string> body;
  http::Purpose purpose = http::Purpose::kRead;

  // As of http::Call.
  absl::Span<uint8_t> target;
  std::function<absl::Span<uint8_t>()> make_target;
  std::optional<http::Call::Range> range;
  std::function<absl::Status(const http::Head& head)> check;
  bool may_hedge = false;
  // The key was listed or read before: a store under load may refuse it once by mistake.
  bool is_known = false;
  // Its reply may be an error with the status 200.
  bool error_in_body = false;
  int64_t most_body = int64_t{64} << 20;
  int64_t deadline_ms = 0;  // for all attempts; 0: none
  // What ends it early, with kClosed; null: nothing.
  std::shared_ptr<Cancellation> cancellation;
};

struct StoreOptions {
  StorageSettings settings = {};
  Environment environment = ProcessVariable;
  http::Transport* transport = nullptr;  // null: LoadedTransport()
  std::function<int64_t()> now = {};     // seconds since 1970; null: the clock of the machine
  // Where credentials come from that are not at hand; null: the process's for this place.
  std::shared_ptr<KeptCredentials> credentials = {};
};

class S3Store : public std::enable_shared_from_this<S3Store> {
 public:
  using Done = http::HttpClient::Done;

  static absl::StatusOr<std::shared_ptr<S3Store>> Make(const StoreOptions& options);

  void Start(S3Request request, Done done);
  // As Start, but waits; ends with kClosed, and cancels, when the thread's StopSignal is raised.
  absl::StatusOr<http::Reply> Run(S3Request request);

  // RefusedError, without anything of the keys.
  absl::Status Refused(std::string_view name, std::string_view wanted, const http::Reply& reply) const;

  StoreCounters counters() const { return client_.counters(); }
  bool is_aws() const { return endpoint_.is_aws(); }

 private:
  struct Going;
  enum class Next { kResult, kAgain, kRenew };

  S3Store(const StoreOptions& options, http::Transport* transport, http::Reach reach, S3Endpoint endpoint,
          std::string region, std::shared_ptr<KeptCredentials> credentials);

  void Begin(const std::shared_ptr<Going>& going, const absl::StatusOr<Credentials>& credentials);
  void Send(const std::shared_ptr<Going>& going);
  void Renew(const std::shared_ptr<Going>& going, http::Reply refused);
  http::Call CallOf(const std::shared_ptr<Going>& going);
  std::string PayloadOf(const S3Request& request) const;
  Next NextOf(Going& going, const http::Reply& reply);
  // Of the keys in use, for errors.
  void Note(const Credentials& credentials);
  std::string RegionOf(const std::string& bucket) const;
  // Whether that is news.
  bool LearnRegion(const std::string& bucket, const std::string& region);
  bool LearnClock(const http::Head& head);

  const std::function<int64_t()> now_;
  const S3Endpoint endpoint_;
  const std::string region_;
  const std::shared_ptr<KeptCredentials> credentials_;
  KeptSigningKey signing_key_;
  http::HttpClient client_;
  std::atomic<int64_t> skew_s_{0};  // of the store's clock
  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> regions_;  // of buckets that are elsewhere
  std::string access_key_;
  std::string token_;
};

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_S3_STORE_H_
