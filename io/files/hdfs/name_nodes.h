// `NameNodes` are the servers that may answer for a cluster, and which of them did last. `FindNameNodes` tells their
// addresses. Threads: any thread.
#ifndef HEADRACE_IO_FILES_HDFS_NAME_NODES_H_
#define HEADRACE_IO_FILES_HDFS_NAME_NODES_H_

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/hdfs/hadoop_configuration.h"
#include "io/files/hdfs/hdfs_url.h"

namespace headrace::hdfs {

// "http://namenode:9870", at least one. `endpoint`: addresses that the settings give, with commas between. kGraph: none
// is known, and what to set.
absl::StatusOr<std::vector<std::string>> FindNameNodes(const HdfsUrl& url, const HadoopConfiguration& configuration,
                                                       std::string_view endpoint);

class NameNodes {
 public:
  explicit NameNodes(std::vector<std::string> addresses) : addresses_(std::move(addresses)) {}

  const std::string& current() const { return addresses_[current_.load(std::memory_order_relaxed)]; }
  // It does not answer, or only stands by: the next one is asked from now on, unless another call has moved on already.
  void MoveOnFrom(const std::string& address);
  size_t size() const { return addresses_.size(); }

 private:
  const std::vector<std::string> addresses_;
  std::atomic<size_t> current_{0};
};

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_NAME_NODES_H_
