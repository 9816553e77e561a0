// `HdfsFileSystem` reads and writes files of HDFS clusters by WebHDFS, or by HttpFS: paths that begin with hdfs://,
// webhdfs:// or, with TLS, swebhdfs://. HDFS has no conditional reads: a file that was listed is compared with its
// listing after its first bytes were read, before they are given, and whoever reads compares it again at the end.
// Threads: any thread; it outlives its files, listings, streams and the reads that were started.
#ifndef HEADRACE_IO_FILES_HDFS_HDFS_FILE_SYSTEM_H_
#define HEADRACE_IO_FILES_HDFS_HDFS_FILE_SYSTEM_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "io/files/far_files.h"
#include "io/files/file_system.h"
#include "io/files/hdfs/hadoop_configuration.h"
#include "io/files/hdfs/hdfs_client.h"
#include "io/files/storage_settings.h"

namespace headrace::hdfs {

class HdfsFileSystem : public FileSystem, public FarFiles {
 public:
  struct Options {
    StorageSettings settings = {};
    HadoopConfiguration configuration = {};
    std::string token_file = {};  // as HADOOP_TOKEN_FILE_LOCATION says; may be empty
    std::string usual_user = {};  // who runs this process
    // NegotiateToken, but for tests.
    std::function<absl::StatusOr<std::string>(std::string_view host)> negotiate = {};
  };

  HdfsFileSystem(http::Transport* transport, Options options);
  ~HdfsFileSystem() override;

  absl::StatusOr<Tensor> Read(const std::string& path) const override;
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override;
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path,
                                                               const ListedFile& listed) const override;
  void StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const override;
  absl::StatusOr<FileStat> Stat(const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override;
  absl::StatusOr<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                       const OutputOptions& options) const override;
  absl::StatusOr<std::unique_ptr<OutputStream>> Resume(const std::string& path, const OutputOptions& options,
                                                       int64_t bytes) const override;
  absl::Status Remove(const std::string& path) const override;
  const FarFiles* far() const override { return this; }

  absl::StatusOr<std::unique_ptr<FolderPages>> ListTree(const std::string& folder) const override;
  StoreCounters counters() const override;
  bool conditional_reads() const override { return false; }
  int most_outstanding() const override;

 private:
  // A path, and the client of its cluster.
  struct Place {
    HdfsClient* client;
    std::string path;
  };
  absl::StatusOr<Place> Find(const std::string& path) const;
  absl::StatusOr<std::shared_ptr<HdfsClient>> MakeClient(const HdfsUrl& url) const;
  absl::StatusOr<HdfsStatus> FileStatusOf(const Place& place, const std::string& path) const;
  absl::Status Explained(absl::Status error, const std::string& path) const;

  http::Transport* const transport_;
  const Options options_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::string, std::string>, std::shared_ptr<HdfsClient>>
      clients_;  // by scheme and authority
};

// With the process's transport and environment.
absl::StatusOr<std::unique_ptr<FileSystem>> MakeHdfsFileSystem(const StorageSettings& settings);

}  // namespace headrace::hdfs

#endif  // HEADRACE_IO_FILES_HDFS_HDFS_FILE_SYSTEM_H_
