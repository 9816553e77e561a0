#include "io/files/delayed_file_system.h"

#include <thread>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

void Sleep(std::chrono::nanoseconds time) { std::this_thread::sleep_for(time); }

class DelayedFile : public File {
 public:
  DelayedFile(std::unique_ptr<File> file, std::chrono::nanoseconds delay, DelayedFileSystem::Wait wait)
      : file_(std::move(file)), delay_(delay), wait_(std::move(wait)) {}

  absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) override {
    wait_(delay_);
    return file_->ReadAt(offset, target);
  }
  absl::StatusOr<int64_t> Size() const override { return file_->Size(); }

 private:
  const std::unique_ptr<File> file_;
  const std::chrono::nanoseconds delay_;
  const DelayedFileSystem::Wait wait_;
};

}  // namespace

DelayedFileSystem::DelayedFileSystem(const FileSystem* files, Delays delays, Wait wait)
    : files_(files), delays_(delays), wait_(wait ? std::move(wait) : Sleep) {}

absl::StatusOr<Tensor> DelayedFileSystem::Read(const std::string& path) const {
  wait_(delays_.open);
  wait_(delays_.read);
  return files_->Read(path);
}

absl::StatusOr<std::unique_ptr<File>> DelayedFileSystem::Open(const std::string& path) const {
  wait_(delays_.open);
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<File> file, files_->Open(path));
  return std::make_unique<DelayedFile>(std::move(file), delays_.read, wait_);
}

absl::StatusOr<FileStat> DelayedFileSystem::Stat(const std::string& path) const { return files_->Stat(path); }

absl::StatusOr<std::vector<FolderEntry>> DelayedFileSystem::List(const std::string& folder, bool sizes) const {
  return files_->List(folder, sizes);
}

absl::Status DelayedFileSystem::Write(const std::string& path, absl::Span<const std::string_view> parts) const {
  return files_->Write(path, parts);
}

}  // namespace headrace
