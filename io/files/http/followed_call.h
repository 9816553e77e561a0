// `FollowedCall` makes a call and follows its redirects: at most five, to hosts of http and https, never from https to
// http, and with authorization for the first host alone. `FollowedCalls` cancels several.
// Threads: any thread; Done as HttpClient.
#ifndef HEADRACE_IO_FILES_HTTP_FOLLOWED_CALL_H_
#define HEADRACE_IO_FILES_HTTP_FOLLOWED_CALL_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/http/http_client.h"

namespace headrace::http {

// Where URLs ended that were redirected, so that their next requests go there at once.
class FinalAddresses {
 public:
  // "": not known.
  std::string Of(const std::string& url) const;
  void Keep(const std::string& url, const std::string& last);
  void Forget(const std::string& url);

 private:
  static constexpr size_t kMost = 10'000;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> by_url_;
};

class FollowedCalls;

class FollowedCall : public std::enable_shared_from_this<FollowedCall> {
 public:
  // All of it outlives the call.
  struct Means {
    HttpClient* client;
    FinalAddresses* addresses;
    std::string authorization;  // for the first host; "": none
  };
  FollowedCall(const Means* means, Call call, HttpClient::Done done);

  void Start();
  // Ends it with kClosed.
  void Cancel();

 private:
  void Send();
  void Take(absl::StatusOr<Reply> reply);
  absl::Status Follow(const Head& head);

  const Means* const means_;
  const Call call_;
  const HttpClient::Done done_;
  std::string url_;
  bool kept_address_ = false;
  int redirects_ = 0;
  std::mutex mutex_;
  HttpClient::Id id_ = 0;
  bool cancelled_ = false;
};

class FollowedCalls {
 public:
  // Those that are ended with the reads that this thread begins, if it says so.
  static std::shared_ptr<FollowedCalls> OfThisThread();

  void Start(std::shared_ptr<FollowedCall> call);
  void Cancel();

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<FollowedCall>> calls_;
  bool cancelled_ = false;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_FOLLOWED_CALL_H_
