// `AsListed` is a file system that opens files as a listing found them: it knows what was said of each, so that readers,
// which know paths alone, neither ask a far store about single files nor read another version. All else is passed on.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_AS_LISTED_H_
#define HEADRACE_IO_FILES_AS_LISTED_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "absl/functional/function_ref.h"
#include "core/seeded_hash.h"
#include "io/files/file_system.h"
#include "io/files/path_arena.h"

namespace headrace {

class AsListed : public FileSystem {
 public:
  // `listed` says what is known of file i of the paths. `files` outlives this.
  AsListed(const FileSystem* files, const PathArena& paths, absl::FunctionRef<ListedFile(size_t i)> listed);
  // Null where the first of the files is not far: a file of this machine is read as it is.
  static std::unique_ptr<const AsListed> OfFar(const FileSystem* files, const PathArena& paths,
                                               absl::FunctionRef<ListedFile(size_t i)> listed);

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
  absl::StatusOr<Located> Locate(const std::string& path) const override { return files_->Locate(path); }

 private:
  // Nothing is known of a path that was not listed.
  ListedFile Known(const std::string& path) const;

  const FileSystem* const files_;
  std::unordered_map<std::string, ListedFile, SeededHash> listed_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_AS_LISTED_H_
