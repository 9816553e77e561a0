// `HdfsStatus` is what a NameNode knows of a file or folder; `ParseFileStatus` and `ParseListing` read it from the JSON
// of replies. A listing is not kept as a tree of JSON. Threads: pure functions.
#ifndef HEADRACE_IO_FILES_HDFS_FILE_STATUS_H_
#define HEADRACE_IO_FILES_HDFS_FILE_STATUS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"

namespace headrace::hdfs {

struct HdfsStatus {
  std::string name;  // in its folder; empty: the path itself
  EntryType type = EntryType::kFile;
  int64_t size = 0;
  int64_t modified_ms = 0;  // 0: not known
  int64_t file_id = 0;      // 0: not known
  int64_t block_size = 0;   // 0: not known
};

// As FileStat::version: the time of modification and the number of the file. A file that is replaced has another
// number, and every change of its bytes another time. Empty where the time is not known.
std::string VersionOf(const HdfsStatus& status);
FileStat StatOf(const HdfsStatus& status);

struct HdfsListing {
  std::vector<HdfsStatus> entries;  // as they come
  int64_t remaining = 0;            // entries of the folder that come after these
};

// kData: the reply is damaged. Neither names the path.
absl::StatusOr<HdfsStatus> ParseFileStatus(std::string_view json);
absl::StatusOr<HdfsListing> ParseListing(std::string_view json);

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_FILE_STATUS_H_
