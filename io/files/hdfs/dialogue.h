// `Dialogue` is a conversation with a cluster of more than one request: the NameNode, then the DataNode that it names,
// and whatever a fault makes necessary. HdfsClient has it with the servers, waiting or not. Threads: one thread at a
// time, perhaps another one for each step.
#ifndef HEADRACE_IO_FILES_HDFS_DIALOGUE_H_
#define HEADRACE_IO_FILES_HDFS_DIALOGUE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/files/hdfs/hdfs_login.h"
#include "io/files/http/http_client.h"

namespace headrace::hdfs {

class Dialogue {
 public:
  enum class Step {
    kCall,   // make the call of Next
    kLogin,  // log in anew, as HDFS refused pass(), then make the call of Next
    kEnd,    // the dialogue keeps its result
  };

  virtual ~Dialogue() = default;
  virtual http::Call Next() = 0;
  // The reply to it.
  virtual Step Take(absl::StatusOr<http::Reply> reply) = 0;
  virtual std::shared_ptr<const Pass> pass() const = 0;
};

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_DIALOGUE_H_
