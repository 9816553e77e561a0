// `NameNodeDialogue` is one operation of WebHDFS at the NameNode that is active, or at HttpFS: it moves on to another
// NameNode where one stands by or does not answer, and waits while a cluster is in safe mode. Others derive from it
// what they have to say after the NameNode's reply. Threads: as Dialogue.
#ifndef HEADRACE_IO_FILES_HDFS_NAME_NODE_DIALOGUE_H_
#define HEADRACE_IO_FILES_HDFS_NAME_NODE_DIALOGUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/hdfs/dialogue.h"
#include "io/files/hdfs/remote_exception.h"

namespace headrace::hdfs {

// The two that know the cluster; both outlive the dialogue.
struct Cluster {
  NameNodes* name_nodes;
  HdfsLogin* login;
  http::Transport* transport;
};

struct Operation {
  std::string name;        // what errors call it: the whole path, as the user wrote it
  std::string path;        // "/folder/file"
  std::string query = {};  // "op=GETFILESTATUS"
  std::string method = "GET";
  http::Purpose purpose = http::Purpose::kList;
  int64_t most_body = int64_t{16} << 20;
  // Of op=OPEN: bytes from `offset` on, which HttpFS gives itself.
  int64_t offset = 0;
  absl::Span<uint8_t> target = {};
};

class NameNodeDialogue : public Dialogue {
 public:
  NameNodeDialogue(const Cluster* cluster, Operation operation);

  http::Call Next() override;
  Step Take(absl::StatusOr<http::Reply> reply) override;
  std::shared_ptr<const Pass> pass() const override;

  // At the end: the reply of 2xx; the error otherwise.
  absl::StatusOr<http::Reply>& result() { return result_; }
  // What HDFS said at the end, if it refused the operation.
  RemoteFault fault() const { return fault_; }
  int status() const { return status_; }

 protected:
  // What follows from an error, or from a reply of 400 and above; nullopt: it is neither.
  std::optional<Step> TakeFailure(const absl::StatusOr<http::Reply>& reply);
  Step End(absl::StatusOr<http::Reply> result);
  // Of a redirect: where to. kData: it leads nowhere, or off TLS.
  absl::StatusOr<std::string> RedirectOf(const http::Reply& reply) const;
  // Logs in anew, or ends where that was tried.
  Step LoginOrEnd(absl::Status error);
  // A DataNode, "10.0.0.1:9864", that is not to be named again. Old NameNodes do not heed that, nor do those that know
  // no other: they are asked so many times more, with growing waits, before it is taken nevertheless.
  void Exclude(const std::string& data_node, int skips);
  Operation& operation() { return operation_; }
  const Cluster& cluster() const { return *cluster_; }

 private:
  // What the attempts of a call find out, also on the event thread, where no step of the dialogue runs meanwhile.
  struct Asked;

  static absl::Status Prepare(const Cluster& cluster, const Operation& operation, Asked& asked, http::Request& attempt,
                              int64_t received);
  static http::Verdict Judge(const Cluster& cluster, Asked& asked, const http::Head& head, std::string_view body);
  bool MayWaitLonger() const;

  const Cluster* const cluster_;
  Operation operation_;
  std::shared_ptr<Asked> asked_;
  int logins_ = 0;
  int64_t began_ns_ = 0;
  absl::StatusOr<http::Reply> result_;
  RemoteFault fault_ = RemoteFault::kNone;
  int status_ = 0;  // of the last reply
};

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_NAME_NODE_DIALOGUE_H_
