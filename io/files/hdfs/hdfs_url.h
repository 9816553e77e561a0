// `ParseHdfsUrl` takes a path of HDFS apart: "hdfs://namenode:8020/folder/file". Percent signs are not decoded, as in
// all paths. Threads: pure functions.
#ifndef HEADRACE_IO_FILES_HDFS_HDFS_URL_H_
#define HEADRACE_IO_FILES_HDFS_HDFS_URL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headrace::hdfs {

struct HdfsUrl {
  std::string scheme;     // "hdfs", "webhdfs" or "swebhdfs"
  std::string authority;  // "namenode:8020", or a nameservice; empty: what core-site.xml says
  std::string path;       // "/folder/file"; "/" is the root
};

// kGraph: its authority names a user, or is none. A slash at the end and double slashes are dropped.
absl::StatusOr<HdfsUrl> ParseHdfsUrl(std::string_view url);

// "namenode" of "namenode:8020".
std::string_view HostOf(std::string_view authority);

// "10.0.0.1:9864" of "http://10.0.0.1:9864/webhdfs/v1/a?op=OPEN"; "" of what is not a URL.
std::string_view AuthorityOf(std::string_view url);

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_HDFS_URL_H_
