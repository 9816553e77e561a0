// `FakeCluster` answers the requests of a FakeTransport as a cluster of HDFS does: files in memory, a NameNode that
// redirects to DataNodes in turn, and faults that a test asks for. Threads: any thread.
#ifndef HEADRACE_IO_FILES_HDFS_TESTING_FAKE_CLUSTER_H_
#define HEADRACE_IO_FILES_HDFS_TESTING_FAKE_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/http/testing/fake_transport.h"

namespace headrace::hdfs {

class FakeCluster {
 public:
  // Its NameNodes are nn1:9870 and nn2:9870, its DataNodes dn1:9864 and so on.
  explicit FakeCluster(int data_nodes = 3) : data_nodes_(data_nodes) {}

  // Adds or replaces a file, and the folders above it.
  void Put(const std::string& path, std::string_view bytes);
  void Drop(const std::string& path);
  void MakeFolder(const std::string& path);
  // nullopt: there is no such file.
  std::optional<std::string> Get(const std::string& path) const;
  std::vector<std::string> paths() const;

  // LISTSTATUS_BATCH gives so many entries at a time; 0: the operation is not known.
  void set_page(size_t entries) { page_ = entries; }
  // The NameNode names DataNodes that are excluded, too, as old ones do.
  void set_excludes(bool excludes) { excludes_ = excludes; }
  // Requests need "delegation=TOKEN"; those with "Authorization: Negotiate ticket" get one. Empty: anyone may.
  void set_token(std::string token);
  // Answers a request itself where it returns a reply.
  using Rule = std::function<std::optional<http::FakeReply>(const http::FakeRequest& request)>;
  void set_rule(Rule rule);

  http::FakeReply Answer(const http::FakeRequest& request);

 private:
  struct File {
    std::string bytes;
    int64_t id;
    int64_t modified_ms;
  };
  struct Asked;  // a request taken apart

  http::FakeReply AnswerNameNode(const Asked& asked);
  http::FakeReply AnswerDataNode(const Asked& asked);
  http::FakeReply Redirect(const Asked& asked);
  http::FakeReply List(const Asked& asked) const;
  http::FakeReply Status(const Asked& asked) const;
  http::FakeReply Rename(const Asked& asked);
  void PutLocked(const std::string& path, std::string bytes);
  void MakeFoldersAbove(const std::string& path);
  std::string StatusText(const std::string& path, std::string_view name) const;

  const int data_nodes_;
  mutable std::mutex mutex_;
  std::map<std::string, File> files_;
  std::set<std::string> folders_ = {"/"};
  size_t page_ = 1000;
  bool excludes_ = true;
  std::string token_;
  Rule rule_;
  int64_t changes_ = 0;
  int turn_ = 0;
};

// The reply of a RemoteException.
http::FakeReply ExceptionReply(int status, std::string_view name, std::string_view message);
// The value of a parameter of a URL, decoded; "" if it is missing.
std::string Parameter(std::string_view url, std::string_view name);

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_TESTING_FAKE_CLUSTER_H_
