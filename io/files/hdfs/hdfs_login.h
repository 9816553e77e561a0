// `HdfsLogin` is by what the requests for a cluster say who asks: a user's name, a delegation token, or the cookie of a
// login by Kerberos. A token that Kerberos gave is replaced before it ends, and when HDFS refuses it; one of the
// settings is not. What it holds is shown nowhere. Threads: any thread; it has one thread of its own once a login is
// renewed by StartRenew or by its age.
#ifndef HEADRACE_IO_FILES_HDFS_HDFS_LOGIN_H_
#define HEADRACE_IO_FILES_HDFS_HDFS_LOGIN_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/files/hdfs/name_nodes.h"
#include "io/files/http/http_client.h"

namespace headrace::hdfs {

// What one request carries.
struct Pass {
  std::string query = {};   // "&user.name=alice", "&delegation=…"; may be empty
  std::string cookie = {};  // the header's value; may be empty
  int64_t renew_ns = 0;     // when it is to be replaced, by the transport's clock; 0: never
};

struct LoginSettings {
  std::string authority = {};   // of the paths: "namenode:8020", "cluster"
  std::string user = {};        // given by the settings
  std::string token = {};       // given by the settings
  std::string token_file = {};  // of Hadoop's credentials
  std::string usual_user = {};  // who runs this process
  bool anonymous = false;       // neither token nor Kerberos
  // NegotiateToken, but for tests.
  std::function<absl::StatusOr<std::string>(std::string_view host)> negotiate = {};
};

class HdfsLogin {
 public:
  // Both outlive it.
  HdfsLogin(LoginSettings settings, http::HttpClient* client, NameNodes* name_nodes);
  ~HdfsLogin();  // waits for a login that is under way

  // Error: the file of credentials cannot be used.
  absl::StatusOr<std::shared_ptr<const Pass>> Current();
  // HDFS refused `refused`: logs in anew, unless another call has done it. Waits for the server and the KDC.
  absl::Status Renew(const std::shared_ptr<const Pass>& refused);
  // As Renew, on the thread of the login; `done` is called there.
  void StartRenew(std::shared_ptr<const Pass> refused, std::function<void(absl::Status)> done);

 private:
  absl::StatusOr<Pass> FirstPass() const;
  absl::StatusOr<Pass> PassOfFile() const;
  absl::StatusOr<Pass> PassOfKerberos();
  absl::StatusOr<http::Reply> AskForToken(const std::string& address);
  absl::StatusOr<Pass> PassOfReply(const http::Reply& reply) const;
  absl::Status Post(std::function<void()> work);
  void Serve();

  const LoginSettings settings_;
  http::HttpClient* const client_;
  NameNodes* const name_nodes_;

  std::mutex renewing_;  // held during a login
  std::mutex mutex_;     // of the rest
  std::shared_ptr<const Pass> current_;
  bool renews_by_age_ = false;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_HDFS_LOGIN_H_
