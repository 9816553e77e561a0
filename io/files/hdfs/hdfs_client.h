// `HdfsClient` has dialogues with one cluster. Threads: any thread; a dialogue that is started goes on on the
// transport's event thread, or on that of the login. It outlives what was started.
#ifndef HEADRACE_IO_FILES_HDFS_HDFS_CLIENT_H_
#define HEADRACE_IO_FILES_HDFS_HDFS_CLIENT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "io/files/cancellation.h"
#include "io/files/hdfs/dialogue.h"
#include "io/files/hdfs/file_status.h"
#include "io/files/hdfs/name_node_dialogue.h"

namespace headrace::hdfs {

class HdfsClient : public std::enable_shared_from_this<HdfsClient> {
 public:
  HdfsClient(http::Transport* transport, http::Reach reach, std::vector<std::string> name_nodes, LoginSettings login);

  // Returns once the dialogue has ended; kClosed when the thread's StopSignal is raised meanwhile. Other errors are of
  // the login.
  absl::Status Run(Dialogue& dialogue);
  // As Run; `done` is called once, perhaps before this returns. `cancellation`: null, or what ends it early.
  using EndedBy = std::shared_ptr<Cancellation>;
  void Start(std::shared_ptr<Dialogue> dialogue, EndedBy cancellation, std::function<void(absl::Status)> done);

  // Makes one call of a dialogue, and keeps this client until it has ended; `done` is called after the dialogue took
  // the reply.
  void Ask(std::shared_ptr<Dialogue> dialogue, std::function<void()> done);

  const Cluster* cluster() const { return &cluster_; }
  StoreCounters counters() const { return client_.counters(); }

  // What the NameNode knows of a file; kNotFound: it is not there. `name` is what errors call it.
  absl::StatusOr<HdfsStatus> Status(const std::string& name, const std::string& path);
  void StartStatus(const std::string& name, const std::string& path, EndedBy cancellation,
                   std::function<void(absl::StatusOr<HdfsStatus>)> done);

  // Whether the cluster lists folders by parts, as far as is known.
  bool lists_by_parts() const { return lists_by_parts_.load(std::memory_order_relaxed); }
  void set_lists_whole() { lists_by_parts_.store(false, std::memory_order_relaxed); }

 private:
  void Go(std::shared_ptr<Dialogue> dialogue, const EndedBy& cancellation, std::function<void(absl::Status)> done);

  NameNodes name_nodes_;
  http::HttpClient client_;
  HdfsLogin login_;
  const Cluster cluster_;
  std::atomic<bool> lists_by_parts_{true};
};

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_HDFS_CLIENT_H_
