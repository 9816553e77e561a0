// `ListDialogue` lists a part of a folder: LISTSTATUS_BATCH, or all of it by LISTSTATUS where the cluster lacks that.
// Threads: as Dialogue.
#ifndef HEADRACE_IO_FILES_HDFS_FOLDER_LISTING_H_
#define HEADRACE_IO_FILES_HDFS_FOLDER_LISTING_H_

#include <string>

#include "absl/status/statusor.h"
#include "io/files/hdfs/file_status.h"
#include "io/files/hdfs/hdfs_client.h"
#include "io/files/hdfs/name_node_dialogue.h"

namespace headrace::hdfs {

class ListDialogue : public NameNodeDialogue {
 public:
  // What comes after `after`, a name; empty: from the first on. `name` is what errors call the folder.
  ListDialogue(HdfsClient* client, std::string name, std::string path, std::string after);

  http::Call Next() override;
  Step Take(absl::StatusOr<http::Reply> reply) override;

  // At the end: entries after `after` in byte order of their names, without names that came before. kNotFound: the
  // folder is not there, or is a file.
  absl::StatusOr<HdfsListing> TakeListing();

 private:
  HdfsClient* const client_;
  const std::string after_;
  bool by_parts_ = true;
};

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_FOLDER_LISTING_H_
