// `CountedReads` is a file system for tests that counts the bytes that are read, and how often files are opened.
// Threads: any.
#ifndef HEADRACE_IO_FILES_TESTING_COUNTED_READS_H_
#define HEADRACE_IO_FILES_TESTING_COUNTED_READS_H_

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/files/file_system.h"
#include "io/files/output_stream.h"

namespace headrace {

class CountedReads : public FileSystem {
 public:
  explicit CountedReads(const FileSystem* files) : files_(files), bytes_(std::make_shared<std::atomic<int64_t>>(0)) {}

  int64_t bytes() const { return *bytes_; }
  int64_t opens() const { return opens_; }

  absl::StatusOr<Tensor> Read(const std::string& path) const override {
    HEADRACE_ASSIGN_OR_RETURN(Tensor read, files_->Read(path));
    *bytes_ += static_cast<int64_t>(read.bytes());
    return read;
  }
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override {
    HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const RandomAccessFile> file, files_->Open(path));
    ++opens_;
    return std::make_shared<const CountedFile>(std::move(file), bytes_);
  }
  absl::StatusOr<FileStat> Stat(const std::string& path) const override { return files_->Stat(path); }
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override {
    return files_->ListPages(folder, sizes);
  }
  absl::StatusOr<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                       const OutputOptions& options) const override {
    return files_->Create(path, options);
  }
  absl::StatusOr<std::unique_ptr<OutputStream>> Resume(const std::string& path, const OutputOptions& options,
                                                       int64_t bytes) const override {
    return files_->Resume(path, options, bytes);
  }
  absl::Status Remove(const std::string& path) const override { return files_->Remove(path); }

 private:
  using Count = std::shared_ptr<std::atomic<int64_t>>;

  class CountedFile : public RandomAccessFile {
   public:
    CountedFile(std::shared_ptr<const RandomAccessFile> file, Count bytes)
        : file_(std::move(file)), bytes_(std::move(bytes)) {}
    absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const override {
      absl::StatusOr<int64_t> got = file_->ReadAt(offset, target);
      if (got.ok()) *bytes_ += *got;
      return got;
    }
    absl::StatusOr<int64_t> Size() const override { return file_->Size(); }

   private:
    const std::shared_ptr<const RandomAccessFile> file_;
    const Count bytes_;
  };

  const FileSystem* const files_;
  const Count bytes_;
  mutable std::atomic<int64_t> opens_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_TESTING_COUNTED_READS_H_
