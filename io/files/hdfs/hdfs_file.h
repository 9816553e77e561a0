// `HdfsFile` is an open file of HDFS, and `StartHdfsRead` reads a whole one. Threads: any thread.
#ifndef HEADRACE_IO_FILES_HDFS_HDFS_FILE_H_
#define HEADRACE_IO_FILES_HDFS_HDFS_FILE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/files/hdfs/hdfs_client.h"

namespace headrace::hdfs {

// A file, and what a listing or the NameNode said of it.
struct KnownFile {
  std::string name;  // in errors
  std::string path;
  int64_t size = 0;
  int64_t block_size = 0;  // 0: not known
  uint64_t version = 0;    // as ListedFile; 0: it is not compared
};

// kData, naming the file: it is not as it was listed.
absl::Status CheckUnchanged(const KnownFile& file, const absl::StatusOr<HdfsStatus>& now);

class HdfsFile : public RandomAccessFile {
 public:
  // `client` outlives the file.
  HdfsFile(HdfsClient* client, KnownFile file) : client_(client), file_(std::move(file)) {}

  absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const override;
  void StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const override;
  absl::StatusOr<int64_t> Size() const override { return file_.size; }

 private:
  // The part of the target that lies in the file.
  absl::Span<uint8_t> Within(int64_t offset, absl::Span<uint8_t> target) const;
  bool is_compared() const { return file_.version == 0 || compared_.load(std::memory_order_relaxed); }

  HdfsClient* const client_;
  const KnownFile file_;
  mutable std::atomic<bool> compared_{false};
};

// All bytes of the file into a buffer of the running task's pool, which is taken before this returns.
void StartHdfsRead(HdfsClient* client, KnownFile file, FileSystem::ReadDone done);

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_HDFS_FILE_H_
