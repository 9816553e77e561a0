// `MakeFolderPages` lists a folder, and `MakeTreePages` all files below one, with several of its folders asked for
// ahead. Threads: FolderPages belong to one thread at a time.
#ifndef HEADRACE_IO_FILES_HDFS_LISTED_PAGES_H_
#define HEADRACE_IO_FILES_HDFS_LISTED_PAGES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/files/hdfs/hdfs_client.h"

namespace headrace::hdfs {

// The first page is asked for before they return: kNotFound if there is no such folder. `name` is what errors call it.
absl::StatusOr<std::unique_ptr<FolderPages>> MakeFolderPages(HdfsClient* client, const std::string& name,
                                                             const std::string& path);
// In byte order of the names, as FarFiles::ListTree.
absl::StatusOr<std::unique_ptr<FolderPages>> MakeTreePages(HdfsClient* client, const std::string& name,
                                                           const std::string& path);

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_LISTED_PAGES_H_
