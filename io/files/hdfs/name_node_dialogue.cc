#include "io/files/hdfs/name_node_dialogue.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/hdfs/hdfs_url.h"
#include "io/files/http/percent_text.h"

namespace headrace::hdfs {
namespace {

constexpr int kMostLogins = 2;
// A cluster that was started anew is in safe mode until its DataNodes have reported, half a minute longer at least.
constexpr int64_t kPatienceNs = int64_t{120} * 1'000'000'000;

bool IsRedirect(int status) { return status == 307 || (status >= 301 && status <= 303) || status == 308; }

}  // namespace

struct NameNodeDialogue::Asked {
  std::string address;  // of the attempt under way; "": there was none
  bool answered = false;
  std::shared_ptr<const Pass> pass;
  std::vector<std::string> excluded;  // DataNodes
  int skips = 0;                      // of replies that name one of them
  // Of the last reply that is repeated.
  int status = 0;
  RemoteException exception;
};

NameNodeDialogue::NameNodeDialogue(const Cluster* cluster, Operation operation)
    : cluster_(cluster),
      operation_(std::move(operation)),
      asked_(std::make_shared<Asked>()),
      began_ns_(cluster->transport->Now()) {}

std::shared_ptr<const Pass> NameNodeDialogue::pass() const { return asked_->pass; }

absl::Status NameNodeDialogue::Prepare(const Cluster& cluster, const Operation& operation, Asked& asked,
                                       http::Request& attempt, int64_t received) {
  // Without an answer, to this one, either.
  if (!asked.address.empty() && !asked.answered) cluster.name_nodes->MoveOnFrom(asked.address);
  asked.address = cluster.name_nodes->current();
  asked.answered = false;
  HEADRACE_ASSIGN_OR_RETURN(asked.pass, cluster.login->Current());
  attempt.url =
      Cat(asked.address, "/webhdfs/v1", http::PercentEncoded(operation.path, http::Slash::kKept), "?", operation.query);
  if (!operation.target.empty()) {
    Append(attempt.url, "&offset=", operation.offset + received,
           "&length=", static_cast<int64_t>(operation.target.size()) - received);
  }
  std::string excluded;
  for (const std::string& data_node : asked.excluded) {
    // NameNodes know them by their other port, too, and then only the host alone is taken.
    Append(excluded, excluded.empty() ? "" : ",", data_node, ",", HostOf(data_node));
  }
  if (!excluded.empty()) Append(attempt.url, "&excludedatanodes=", http::PercentEncoded(excluded));
  attempt.url += asked.pass->query;
  if (!asked.pass->cookie.empty()) attempt.headers.push_back({"Cookie", asked.pass->cookie});
  return absl::OkStatus();
}

http::Verdict NameNodeDialogue::Judge(const Cluster& cluster, Asked& asked, const http::Head& head,
                                      std::string_view body) {
  asked.answered = true;
  asked.status = 0;
  if (head.status < 400) {
    const std::string_view named = AuthorityOf(head.Find("location"));
    const bool failed = std::find(asked.excluded.begin(), asked.excluded.end(), named) != asked.excluded.end();
    return failed && asked.skips-- > 0 ? http::Verdict::kRetry : http::Verdict::kResult;
  }
  RemoteException exception = ParseRemoteException(body);
  const RemoteFault fault = FaultOf(head.status, exception);
  const auto repeat = [&](http::Verdict verdict) {
    asked.status = head.status;
    asked.exception = std::move(exception);
    return verdict;
  };
  switch (fault) {
    case RemoteFault::kStandby:
      cluster.name_nodes->MoveOnFrom(asked.address);
      return repeat(http::Verdict::kRetry);
    case RemoteFault::kNotYet:
      return repeat(http::Verdict::kRetry);
    case RemoteFault::kNoDataNode:
      // Those that failed may be back.
      asked.excluded.clear();
      return repeat(http::Verdict::kRetry);
    case RemoteFault::kOther:
      break;
    default:
      return http::Verdict::kResult;
  }
  if (head.status == 429 || head.status == 503) return repeat(http::Verdict::kThrottled);
  return head.status == 408 || head.status >= 500 ? repeat(http::Verdict::kRetry) : http::Verdict::kResult;
}

http::Call NameNodeDialogue::Next() {
  asked_->address.clear();
  asked_->status = 0;
  http::Call call;
  call.name = operation_.name;
  call.purpose = operation_.purpose;
  call.request.method = operation_.method;
  call.request.url = Cat(cluster_->name_nodes->current(), "/webhdfs/v1/");
  call.most_body = operation_.most_body;
  call.target = operation_.target;
  call.prepare_resumes = !operation_.target.empty();
  call.prepare = [cluster = cluster_, operation = operation_, asked = asked_](http::Request& attempt,
                                                                              int64_t received) {
    return Prepare(*cluster, operation, *asked, attempt, received);
  };
  call.judge = [cluster = cluster_, asked = asked_](const http::Head& head, std::string_view body) {
    return Judge(*cluster, *asked, head, body);
  };
  return call;
}

bool NameNodeDialogue::MayWaitLonger() const {
  const RemoteFault fault = FaultOf(asked_->status, asked_->exception);
  return (fault == RemoteFault::kNotYet || fault == RemoteFault::kStandby) &&
         cluster_->transport->Now() - began_ns_ < kPatienceNs;
}

NameNodeDialogue::Step NameNodeDialogue::End(absl::StatusOr<http::Reply> result) {
  result_ = std::move(result);
  return Step::kEnd;
}

NameNodeDialogue::Step NameNodeDialogue::LoginOrEnd(absl::Status error) {
  fault_ = RemoteFault::kLogin;
  return logins_++ < kMostLogins ? Step::kLogin : End(std::move(error));
}

std::optional<NameNodeDialogue::Step> NameNodeDialogue::TakeFailure(const absl::StatusOr<http::Reply>& reply) {
  if (!reply.ok()) {
    if (asked_->status == 0 || KindOf(reply.status()) == ErrorKind::kClosed) return End(reply.status());
    if (MayWaitLonger()) return Step::kCall;
    fault_ = FaultOf(asked_->status, asked_->exception);
    return End(RemoteError(operation_.name, asked_->status, asked_->exception));
  }
  const int status = status_ = reply->head.status;
  if (status < 400) return std::nullopt;
  const RemoteException exception = ParseRemoteException(reply->body);
  fault_ = FaultOf(status, exception);
  absl::Status error = RemoteError(operation_.name, status, exception);
  return fault_ == RemoteFault::kLogin ? LoginOrEnd(std::move(error)) : End(std::move(error));
}

NameNodeDialogue::Step NameNodeDialogue::Take(absl::StatusOr<http::Reply> reply) {
  if (const std::optional<Step> step = TakeFailure(reply)) return *step;
  const int status = reply->head.status;
  if (status / 100 == 2) return End(std::move(reply));
  return End(DataError(operation_.name, ": the server answers with status ", status,
                       ", which WebHDFS does not do; check that endpoint is a NameNode or HttpFS"));
}

absl::StatusOr<std::string> NameNodeDialogue::RedirectOf(const http::Reply& reply) const {
  std::string location(reply.head.Find("location"));
  const bool tls = location.starts_with("https://");
  if (!IsRedirect(reply.head.status) || (!tls && !location.starts_with("http://"))) {
    return DataError(operation_.name, ": the NameNode answers with status ", reply.head.status,
                     " and names no DataNode; check that endpoint is a NameNode or HttpFS");
  }
  // It carries the token.
  if (!tls && asked_->address.starts_with("https://")) {
    return DataError(operation_.name,
                     ": the NameNode is asked by https and names a DataNode by http, which would show the token; set "
                     "dfs.http.policy to HTTPS_ONLY on the whole cluster, or read by webhdfs://");
  }
  return location;
}

void NameNodeDialogue::Exclude(const std::string& data_node, int skips) {
  std::vector<std::string>& excluded = asked_->excluded;
  if (std::find(excluded.begin(), excluded.end(), data_node) == excluded.end()) excluded.push_back(data_node);
  asked_->skips = skips;
}

}  // namespace headrace::hdfs
