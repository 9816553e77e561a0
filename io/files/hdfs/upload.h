// `Upload` sends bytes to a DataNode that the NameNode names: a new file, or the end of one. It is not repeated once
// the DataNode may have begun to write: what is there then, the file's length says. Threads: as Dialogue; `bytes` live
// until it ends.
#ifndef HEADRACE_IO_FILES_HDFS_UPLOAD_H_
#define HEADRACE_IO_FILES_HDFS_UPLOAD_H_

#include <string>
#include <string_view>

#include "io/files/hdfs/name_node_dialogue.h"

namespace headrace::hdfs {

class Upload : public NameNodeDialogue {
 public:
  // `operation`: CREATE by PUT, or APPEND by POST.
  Upload(const Cluster* cluster, Operation operation, std::string_view bytes)
      : NameNodeDialogue(cluster, std::move(operation)), bytes_(bytes) {}

  http::Call Next() override;
  Step Take(absl::StatusOr<http::Reply> reply) override;

  // Whether a DataNode was asked, so that some of the bytes may be there.
  bool may_have_written() const { return may_have_written_; }

 private:
  const std::string_view bytes_;
  std::string location_;  // of the DataNode; empty: the NameNode is asked
  bool may_have_written_ = false;
};

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_UPLOAD_H_
