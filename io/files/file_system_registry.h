// `FileSystemRegistry` finds a file system by the scheme of a URI: "file:///photos" and plain paths are the machine's
// own files. The registry is a file system itself, which passes every call to the one that the path names, so that no
// other code knows of schemes. A scheme is a letter and letters, digits, '+', '-' or '.', before "://"; for files ":/"
// is enough. What follows "file://" or "file://localhost" is the path as it is: percent signs are not decoded.
// `FileSystemWith` (io/files/storage_settings.h) gives the registry of some settings, which has the schemes registered
// by then (io/files/file_system_registration.h) and makes each store at its first use.
// Threads: Add before the registry is shared; everything else from any thread at once.
#ifndef HEADRACE_IO_FILES_FILE_SYSTEM_REGISTRY_H_
#define HEADRACE_IO_FILES_FILE_SYSTEM_REGISTRY_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/files/file_system.h"
#include "io/files/storage_settings.h"
#include "io/files/store_makers.h"

namespace headrace {

class FileSystemRegistry : public FileSystem {
 public:
  // `plain` serves paths without a scheme, and those of file:.
  explicit FileSystemRegistry(const FileSystem* plain) : plain_(plain) {}
  FileSystemRegistry(const FileSystem* plain, std::shared_ptr<const StoreMakers> makers, StorageTable storage)
      : plain_(plain), makers_(std::move(makers)), storage_(std::move(storage)) {}

  // `files` gets whole URIs, "s3://bucket/key", and outlives the registry. Replaces the one of that scheme.
  void Add(std::string scheme, const FileSystem* files) { by_scheme_[std::move(scheme)] = files; }

  // kUnsupported, with the schemes that there are, if no file system has the scheme of the path. The error of a store
  // that cannot be made.
  absl::StatusOr<Located> Locate(const std::string& path) const override;

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

 private:
  absl::StatusOr<Located> LocateFileUri(std::string_view uri) const;
  absl::StatusOr<Located> LocateInStore(std::string_view scheme, const std::string& url) const;
  std::vector<std::string> Schemes() const;

  const FileSystem* const plain_;
  const std::shared_ptr<const StoreMakers> makers_;  // null: none but those added
  const StorageTable storage_;
  std::map<std::string, const FileSystem*, std::less<>> by_scheme_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FILE_SYSTEM_REGISTRY_H_
