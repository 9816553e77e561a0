// `S3FileSystem` serves paths "s3://bucket/key" (and "s3a://") of AWS and of stores that speak its protocol. It is
// registered for both schemes; io/files/s3/s3_store.h says how requests are made. Threads: any thread.
#ifndef HEADRACE_IO_FILES_S3_S3_FILE_SYSTEM_H_
#define HEADRACE_IO_FILES_S3_S3_FILE_SYSTEM_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/far_files.h"
#include "io/files/file_system.h"
#include "io/files/s3/s3_output.h"
#include "io/files/s3/s3_store.h"
#include "io/files/s3/s3_stores.h"

namespace headrace::s3 {

class S3FileSystem : public FileSystem, public FarFiles {
 public:
  explicit S3FileSystem(StoreOptions options, PartLimits limits = {}) : stores_(std::move(options)), limits_(limits) {}

  absl::StatusOr<Tensor> Read(const std::string& path) const override;
  // Asks for the size and the version.
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override;
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path,
                                                               const ListedFile& listed) const override;
  void StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const override;
  // A folder is what keys lie below.
  absl::StatusOr<FileStat> Stat(const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override;
  absl::StatusOr<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                       const OutputOptions& options) const override;
  absl::StatusOr<std::unique_ptr<OutputStream>> Resume(const std::string& path, const OutputOptions& options,
                                                       int64_t bytes) const override;
  absl::Status Remove(const std::string& path) const override;
  const FarFiles* far() const override { return this; }

  absl::StatusOr<std::unique_ptr<FolderPages>> ListTree(const std::string& folder) const override;
  StoreCounters counters() const override { return stores_.counters(); }
  int most_outstanding() const override { return 1024; }
  // Of requests alone, as AWS asks for them in us-east-1; other vendors' are not known.
  double ListPrice(const StoreCounters& counters) const override;

 private:
  const S3Stores stores_;
  const PartLimits limits_;
};

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_S3_FILE_SYSTEM_H_
