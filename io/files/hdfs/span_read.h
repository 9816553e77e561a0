// `StartSpanRead` reads any part of a file by pieces, several at once, and `RunSpanRead` one after the other while the
// caller waits. Threads: any thread; `done` is called once, on any thread, perhaps before StartSpanRead returns;
// `cancellation` is null, or ends it early.
#ifndef HEADRACE_IO_FILES_HDFS_SPAN_READ_H_
#define HEADRACE_IO_FILES_HDFS_SPAN_READ_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "io/files/hdfs/hdfs_client.h"

namespace headrace::hdfs {

// Bytes that lie in the file.
struct FileSpan {
  std::string name;  // of the file, in errors
  std::string path;
  int64_t block_size = 0;  // 0: not known
  int64_t offset = 0;
  absl::Span<uint8_t> target = {};
};

absl::Status RunSpanRead(HdfsClient& client, const FileSpan& span);
void StartSpanRead(HdfsClient& client, FileSpan span, HdfsClient::EndedBy cancellation,
                   std::function<void(absl::Status)> done);

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_SPAN_READ_H_
