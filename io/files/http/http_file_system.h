// `HttpFileSystem` reads files of http: and https: by ranges: whole URLs are their names. There are no listings and
// nothing is written. A file whose host gives strong ETags is guarded by them; the others by their size alone.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_HTTP_HTTP_FILE_SYSTEM_H_
#define HEADRACE_IO_FILES_HTTP_HTTP_FILE_SYSTEM_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/far_files.h"
#include "io/files/file_system.h"
#include "io/files/http/http_client.h"
#include "io/files/storage_settings.h"

namespace headrace::http {

class HttpFiles;

class HttpFileSystem : public FileSystem, public FarFiles {
 public:
  // `transport` outlives it. `authorization` goes to the hosts of the URLs alone, not to where they are redirected.
  HttpFileSystem(Transport* transport, Reach reach, std::string authorization);

  absl::StatusOr<Tensor> Read(const std::string& path) const override;
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override;
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path,
                                                               const ListedFile& listed) const override;
  void StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const override;
  absl::StatusOr<FileStat> Stat(const std::string& path) const override;
  // kGraph: the URL has a user's name or password in it, which is not shown.
  absl::StatusOr<Located> Locate(const std::string& path) const override;
  // kUnsupported: a host of HTTP has no listings.
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override;
  const FarFiles* far() const override { return this; }

  absl::StatusOr<std::unique_ptr<FolderPages>> ListTree(const std::string& folder) const override;
  StoreCounters counters() const override;
  int most_outstanding() const override { return 1024; }

 private:
  const std::shared_ptr<HttpFiles> files_;
};

// `secure`: for https.
absl::StatusOr<std::unique_ptr<FileSystem>> MakeHttpFileSystem(const StorageSettings& settings, bool secure);

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_HTTP_FILE_SYSTEM_H_
