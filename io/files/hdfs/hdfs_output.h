// `CreateHdfsOutput` and `ResumeHdfsOutput` write files of HDFS. The bytes go to a draft beside the file by CREATE and
// APPEND, whose length is compared before RENAME gives it the name in one step. HDFS only appends: a file with a head
// that is written again is kept in a temporary file of this machine until Seal. Unlike a local draft, a draft in HDFS
// is not locked against another process. Threads: any thread; a stream belongs to one thread at a time.
#ifndef HEADRACE_IO_FILES_HDFS_HDFS_OUTPUT_H_
#define HEADRACE_IO_FILES_HDFS_HDFS_OUTPUT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/hdfs/hdfs_client.h"
#include "io/files/output_stream.h"

namespace headrace::hdfs {

// `name` is what errors call the file; `client` outlives the stream.
absl::StatusOr<std::unique_ptr<OutputStream>> CreateHdfsOutput(HdfsClient* client, const std::string& name,
                                                               const std::string& path, const OutputOptions& options);
absl::StatusOr<std::unique_ptr<OutputStream>> ResumeHdfsOutput(HdfsClient* client, const std::string& name,
                                                               const std::string& path, const OutputOptions& options,
                                                               int64_t bytes);
// Removes a file; OK if there is none.
absl::Status RemoveHdfsFile(HdfsClient& client, const std::string& name, const std::string& path);

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_HDFS_OUTPUT_H_
