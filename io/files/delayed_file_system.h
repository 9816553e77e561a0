// A file system whose every open and every read takes longer: a slow disk for benchmarks and tests. Folders are listed
// at once.
// Thread contract: as FileSystem's, where `wait` may be called from any thread.
#ifndef HEADRACE_IO_FILES_DELAYED_FILE_SYSTEM_H_
#define HEADRACE_IO_FILES_DELAYED_FILE_SYSTEM_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/files/file_system.h"

namespace headrace {

class DelayedFileSystem : public FileSystem {
 public:
  struct Delays {
    std::chrono::nanoseconds open{0};
    std::chrono::nanoseconds read{0};
  };
  using Wait = std::function<void(std::chrono::nanoseconds)>;

  // `files` outlives it. `wait` is asked before each call that is delayed; not given: the thread sleeps.
  DelayedFileSystem(const FileSystem* files, Delays delays, Wait wait = nullptr);

  // An open and a read.
  absl::StatusOr<Tensor> Read(const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path) const override;
  absl::StatusOr<FileStat> Stat(const std::string& path) const override;
  absl::StatusOr<std::vector<FolderEntry>> List(const std::string& folder, bool sizes) const override;
  absl::Status Write(const std::string& path, absl::Span<const std::string_view> parts) const override;

 private:
  const FileSystem* const files_;
  const Delays delays_;
  const Wait wait_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_DELAYED_FILE_SYSTEM_H_
